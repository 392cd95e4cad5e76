import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '#lib/numeric';
import type { PoolClient } from '#lib/storage';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { analysed, chained, exactlyOnce, gapless, intact, rebuilt, resultsOf, type Ground } from '../support/intact.js';
import { readLedger, type Ledger } from '../support/ledger.js';
import { batchesOf } from '../support/log-lines.js';
import { deliver, rawBatch } from '../support/raw-writer.js';
import { ServedPlatform } from '../support/served-platform.js';

// The checks that stand behind every fault must themselves be able to fail: here each meets what it is there to find.

let platform: ServedPlatform;
let folder: string;
let ground: Ground;
let runs = 0;
let runId: string;
let ledger: Ledger;

beforeAll(async () => {
  platform = await ServedPlatform.start();
  folder = mkdtempSync(join(tmpdir(), 'recredit-checks-'));
  ground = { platform, pool: platform.pool(), owner: platform.ownerPool(), store: await platform.store() };
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect(await platform?.remove()).toEqual([]);
});

/** A run of ten batches, sequence n at position 1 + 10n. */
beforeEach(async () => {
  const response = await fetch(`${platform.url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project: 'default', name: `checked-${runs++}` }),
  });
  ({ id: runId } = (await response.json()) as { id: string });
  const random = seededRandom(runId);
  const target = { urls: [platform.url], key: platform.key, runId, ledger: join(folder, runId) };
  for (let sequence = 0; sequence < 10; sequence++) await deliver(target, rawBatch('p', sequence, random), random);
  ledger = readLedger([target.ledger], runId);
});

/** What somebody could do who may switch the triggers off. */
async function tamper(sql: string, params: unknown[] = [runId]): Promise<void> {
  const client: PoolClient = await ground.owner.connect();
  await client.query('set session_replication_role = replica');
  await client.query(sql, params);
  await client.query('reset session_replication_role');
  client.release();
}

const counted = async () => exactlyOnce(await batchesOf(ground.pool, runId), ledger);
const placed = async (head: number) => gapless(await batchesOf(ground.pool, runId), head);

it('find nothing wrong where nothing is', async () => {
  expect(ledger.acknowledged).toHaveLength(100);
  expect(await intact(ground, runId, ledger)).toEqual({ acknowledged: 100, lost: 0, doubled: 0, findings: [] });
});

it('miss an acknowledged batch that is gone', async () => {
  await tamper('delete from event_batch where run_id = $1 and first_position = 31');
  expect(await counted()).toMatchObject({ acknowledged: 100, lost: 10, doubled: 0 });
  expect(await placed(101)).toContainEqual('batch 4 of p: position 31 was wanted, found 41');
  expect(await chained(ground.pool, runId)).toHaveLength(1);
});

it('miss an event that the SDK took and nobody acknowledged', async () => {
  ledger = { ...ledger, recorded: ['p-3-0/2', 'p-99-0/2'] };
  expect(await counted()).toMatchObject({ lost: 1, findings: ['p-99-0/2: recorded by the SDK, not in the log'] });
});

it('see an event that is there twice', async () => {
  await tamper(
    `insert into event_batch (run_id, first_position, event_count, producer_id, producer_epoch, batch_sequence, codec, payload,
       payload_size, payload_sha256, chain_hash)
     select run_id, 101, event_count, 'q', 0, 0, codec, payload, payload_size, payload_sha256, chain_hash
     from event_batch where run_id = $1 and first_position = 31`,
  );
  expect(await counted()).toMatchObject({ lost: 0, doubled: 10 });
  expect(await placed(101)).toEqual(['the head says 101 events, the batches hold 111']);
});

it('see content that is not what was acknowledged', async () => {
  await tamper(
    `update event_batch to_change set payload = other.payload from event_batch other
     where to_change.run_id = $1 and to_change.first_position = 31 and other.run_id = $1 and other.first_position = 41`,
  );
  expect(await counted()).toMatchObject({ lost: 10, doubled: 10 });
  expect(await placed(101)).toEqual([]);
  expect(await chained(ground.pool, runId)).toEqual([expect.stringContaining('payload hash')]);
});

it('see an analysis that does not complete', async () => {
  await rebuilt(ground.pool, ground.store, runId);
  await analysed(platform, runId, 101); // whose request cuts a segment
  for (const file of await ground.store.list(`segments/${runId}/`)) await ground.store.delete(file);
  await ground.owner.query('delete from credit_result where run_id = $1', [runId]);
  await ground.owner.query('delete from shard_summary where run_id = $1', [runId]);
  const { findings } = await analysed(platform, runId, 101);
  expect(findings).toEqual([expect.stringMatching(/^an analysis did not complete.*"failed":2/)]);
});

it('see a segment and a row that a rebuild would not make', async () => {
  await analysed(platform, runId, 101);
  const [file] = await ground.store.list(`segments/${runId}/`);
  const bytes = Buffer.from(await ground.store.get(file));
  bytes[bytes.length >> 1] ^= 1;
  await ground.store.put(file, bytes);
  await ground.owner.query(`update trajectory set outcome_reward = 7 where run_id = $1 and id = 'p-3-0'`, [runId]);
  expect(await rebuilt(ground.pool, ground.store, runId)).toEqual([
    expect.stringMatching(/^trajectory before and after a rebuild differ/),
    expect.stringMatching(/^segments before and after a rebuild differ/),
  ]);
});

it('see credit that is not what the database says of it', async () => {
  await analysed(platform, runId, 101);
  const before = await resultsOf(ground.owner, ground.store, runId);
  const { rows } = await ground.owner.query(`select key from credit_result where run_id = $1 and outcome = 'credit'`, [
    runId,
  ]);
  const file = (await ground.store.list('credit/')).find((path) => path.includes(rows[0].key))!;
  await ground.store.put(file, Buffer.concat([await ground.store.get(file), Buffer.from('x')]));
  const after = await resultsOf(ground.owner, ground.store, runId);
  expect(before.every((result) => result.includes('"found":"as said"') || result.includes('"missing"'))).toBe(true);
  expect(after.filter((result, i) => result !== before[i])).toHaveLength(1);
});
