import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { aBatch } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { verifyRun, verifyStretch } from './verify-run.js';

let db: TestDatabase;
let log: EventLog;
beforeAll(async () => {
  db = await testDatabase();
  log = new EventLog(db.pool);
});
afterAll(async () => {
  await log.close();
  await db.drop();
});

/** Ten batches of two: p's sequence n lies at position 2n. */
async function tenBatches(): Promise<string> {
  const runId = await aRun(db.ownerPool);
  for (let n = 0; n < 10; n++) await log.append(runId, await aBatch('p', n));
  return runId;
}

/** What somebody could do who may switch the triggers off. */
async function tamper(...statements: [sql: string, params: unknown[]][]): Promise<void> {
  const client = await db.ownerPool.connect();
  await client.query('set session_replication_role = replica');
  for (const [sql, params] of statements) await client.query(sql, params);
  await client.query('reset session_replication_role');
  client.release();
}

describe('verifyRun', () => {
  it.each([1, 3, 10, 256])('finds nothing wrong with what was acknowledged, in pages of %i', async (pageBatches) => {
    const runId = await tenBatches();
    const progress: number[][] = [];
    const verified = await verifyRun(db.pool, runId, { pageBatches, onProgress: (...done) => progress.push(done) });
    const { rows } = await db.ownerPool.query(
      `select encode(chain_hash, 'hex') as "chainHash", (select sum(payload_size)::int from event_batch where run_id = $1) as bytes
       from run_stream where run_id = $1`,
      [runId],
    );
    expect(verified).toEqual({ runId, batches: 10, events: 20, ...rows[0], erased: null, broken: null });
    expect(progress).toHaveLength(Math.ceil(10 / pageBatches));
    expect(progress.at(-1)).toEqual([20, 20]);
  });

  it('is not disturbed by appends meanwhile', async () => {
    const runId = await tenBatches();
    let next = 10;
    const appending: Promise<unknown>[] = [];
    const append = async (sequence: number) => log.append(runId, await aBatch('p', sequence));
    const verified = await verifyRun(db.pool, runId, {
      pageBatches: 2,
      onProgress: () => appending.push(append(next++)),
    });
    await Promise.all(appending);
    expect(verified).toMatchObject({ events: 20, broken: null });
    expect(await verifyRun(db.pool, runId)).toMatchObject({ events: next * 2, broken: null });
  });

  it('finds nothing wrong with a run that has no events, and no run that does not exist', async () => {
    expect(await verifyRun(db.pool, await aRun(db.ownerPool))).toMatchObject({ batches: 0, broken: null });
    await expect(verifyRun(db.pool, 'nowhere')).rejects.toMatchObject({ code: 'run.unknown' });
  });

  it('names the batch whose payload was changed', async () => {
    const runId = await tenBatches();
    const { payload, size } = await aBatch('p', 4, { content: 'q' });
    await tamper([
      'update event_batch set payload = $2, payload_size = $3 where run_id = $1 and first_position = 8',
      [runId, payload, size],
    ]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({
      position: 8,
      producerId: 'p',
      sequence: 4,
      what: 'payload hash',
    });
  });

  it('names the batch whose payload was changed together with its hash', async () => {
    const runId = await tenBatches();
    const { payload, size, sha256 } = await aBatch('p', 4, { content: 'q' });
    await tamper([
      `update event_batch set payload = $2, payload_size = $3, payload_sha256 = $4
       where run_id = $1 and first_position = 8`,
      [runId, payload, size, sha256],
    ]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({ position: 8, sequence: 4, what: 'chain hash' });
  });

  it.each([
    ['rubbish', Buffer.from('rubbish')],
    ['a bomb', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))],
    ['nothing', Buffer.alloc(0)],
  ])('names the batch whose payload is %s', async (_, payload) => {
    const runId = await tenBatches();
    await tamper(['update event_batch set payload = $2 where run_id = $1 and first_position = 18', [runId, payload]]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({ position: 18, sequence: 9, what: 'payload' });
  });

  it('names the batch that says more events than it holds', async () => {
    const runId = await tenBatches();
    await tamper(['update event_batch set event_count = 3 where run_id = $1 and first_position = 2', [runId]]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({
      position: 2,
      what: 'event count',
      expected: '3',
      found: '2',
    });
  });

  it('names the first of two batches that changed places', async () => {
    const runId = await tenBatches();
    const move = 'update event_batch set first_position = $3 where run_id = $1 and first_position = $2';
    await tamper([move, [runId, 4, 100]], [move, [runId, 6, 4]], [move, [runId, 100, 6]]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({ position: 4, sequence: 3, what: 'chain hash' });
  });

  it('names the place of a batch that was deleted, and what lies there now', async () => {
    const runId = await tenBatches();
    await tamper(['delete from event_batch where run_id = $1 and first_position = 10', [runId]]);
    expect((await verifyRun(db.pool, runId)).broken).toEqual({
      position: 10,
      producerId: 'p',
      sequence: 6,
      what: 'position',
      expected: '10',
      found: '12',
    });
  });

  it.each([
    ['the last batch is gone', 'delete from event_batch where run_id = $1 and first_position = 18', 18],
    ['all batches are gone', 'delete from event_batch where run_id = $1', 0],
    ['the head was set back', 'update run_stream set next_position = 18 where run_id = $1', 20],
    ['the head has another hash', `update run_stream set chain_hash = sha256('x') where run_id = $1`, 20],
    ['the head is gone', 'delete from run_stream where run_id = $1', 20],
  ])('sees by the head that %s', async (_, sql, position) => {
    const runId = await tenBatches();
    await tamper([sql, [runId]]);
    expect((await verifyRun(db.pool, runId)).broken).toMatchObject({ position, producerId: null, what: 'head' });
  });
});

describe('verifyStretch', () => {
  it('goes through a run piece by piece, to the hash that one walk comes to', async () => {
    const runId = await tenBatches();
    const ends: number[] = [];
    let stretch = await verifyStretch(db.pool, runId, 0, 4);
    for (; !stretch.isWhole; stretch = await verifyStretch(db.pool, runId, stretch.position, 4)) {
      ends.push(stretch.position);
      expect(stretch.broken).toBeNull();
    }
    expect(ends).toEqual([8, 16]);
    const { chainHash } = await verifyRun(db.pool, runId);
    expect(stretch).toMatchObject({ from: 16, position: 20, events: 4, batches: 2, isWhole: true, chainHash });
    expect(await verifyStretch(db.pool, runId, 20)).toMatchObject({ events: 0, isWhole: true, chainHash });
  });

  it('names what is broken in the piece that holds it, and the head in the last one', async () => {
    const runId = await tenBatches();
    await tamper([
      `update event_batch set payload_sha256 = sha256('x') where run_id = $1 and first_position = 10`,
      [runId],
    ]);
    expect(await verifyStretch(db.pool, runId, 0, 4)).toMatchObject({ position: 8, isWhole: false, broken: null });
    const second = await verifyStretch(db.pool, runId, 8, 4);
    expect(second).toMatchObject({ position: 10, isWhole: false, broken: { position: 10, what: 'payload hash' } });
    await tamper([`update run_stream set chain_hash = sha256('x') where run_id = $1`, [runId]]);
    expect((await verifyStretch(db.pool, runId, 16, 4)).broken).toMatchObject({ position: 20, what: 'head' });
  });

  it.each([3, -2, 21, 22])('begins where a batch begins, not at %i', async (from) => {
    await expect(verifyStretch(db.pool, await tenBatches(), from)).rejects.toMatchObject({ code: 'request.invalid' });
  });
});
