import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { appendOwn } from './append-own.js';
import { aBatch } from './batch.builder.js';
import { assertNotErased, beginErasure, erasuresOf, purgePayloads } from './erasure.js';
import { EventLog } from './event-log.js';
import { readEvents } from './read-events.js';
import { readEventsAt } from './read-events-at.js';
import { verifyRun } from './verify-run.js';

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

const REQUEST = { reason: 'its people asked for it', requestedBy: 'a test', rows: 7 };

/** Ten batches of two. */
async function tenBatches(project?: string): Promise<string> {
  const runId = await aRun(db.ownerPool, project === undefined ? {} : { project });
  for (let n = 0; n < 10; n++) await log.append(runId, await aBatch('p', n));
  return runId;
}

async function purged(runId: string, atOnce?: number): Promise<void> {
  while (await purgePayloads(db.pool, runId, atOnce));
}

describe('an erased run', () => {
  it('keeps its hashes and their chain, and holds no payload but that of run.erased', async () => {
    const runId = await tenBatches();
    const before = await db.pool.query(
      'select first_position, event_count, payload_size, payload_sha256, chain_hash from event_batch where run_id = $1 order by 1',
      [runId],
    );
    expect(await beginErasure(db.pool, runId, REQUEST)).toBe(true);
    await purged(runId, 3);

    const { rows } = await db.pool.query(
      'select first_position, event_count, payload_size, payload_sha256, chain_hash, octet_length(payload) as bytes from event_batch where run_id = $1 order by 1',
      [runId],
    );
    expect(rows.slice(0, 10)).toEqual(before.rows.map((row) => ({ ...row, bytes: 0 })));
    expect(rows[10].bytes).toBeGreaterThan(0);
    expect(await verifyRun(db.pool, runId)).toMatchObject({
      batches: 11,
      events: 21,
      erased: { batches: 10, events: 20, position: 20 },
      broken: null,
    });
    const [erasure] = await erasuresOf(db.pool, [runId]);
    expect(erasure).toMatchObject({ ...REQUEST, runId, position: 20, batches: 10, finishedAt: null });
    expect(erasure.payloadBytes).toBeGreaterThan(500);
  });

  it('takes no more events, of nobody, also what waited for its lock', async () => {
    const runId = await tenBatches();
    const holder = await db.pool.connect();
    await holder.query('begin');
    await holder.query('select from run_stream where run_id = $1 for update', [runId]);
    const erasing = beginErasure(db.pool, runId, REQUEST);
    await expect.poll(() => waitingFor('run_stream')).toBe(1);
    const late = log.append(runId, await aBatch('p', 10)).catch((error: unknown) => error);
    await expect.poll(() => waitingFor('run_stream')).toBe(2);
    await holder.query('commit');
    holder.release();

    expect(await erasing).toBe(true);
    expect(await late).toMatchObject({ code: 'run.erased', status: 409, details: { run: runId, position: 20 } });
    const again = log.append(runId, await aBatch('p', 9));
    await expect(again).rejects.toMatchObject({ code: 'run.erased' });
    const event = { type: 'run.ended', at: '2026-01-01T00:00:00Z' } as const;
    await expect(appendOwn(db.pool, runId, [event])).rejects.toMatchObject({ code: 'run.erased' });
    await expect(assertNotErased(db.pool, [await tenBatches(), runId])).rejects.toMatchObject({ code: 'run.erased' });
    expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 21, broken: null });
  });

  it('reads as run.erased alone, from wherever one asks, also before its payloads are gone', async () => {
    const runId = await tenBatches();
    await beginErasure(db.pool, runId, REQUEST);
    for (const purge of [async () => {}, () => purged(runId)]) {
      await purge();
      for (const from of [0, 7, 20]) {
        const events = await readEvents(db.pool, runId, from);
        expect(events).toMatchObject([{ position: 20, event: { type: 'run.erased', reason: REQUEST.reason } }]);
      }
      expect(await readEvents(db.pool, runId, 21)).toEqual([]);
    }
    const byAddress = await readEventsAt(db.pool, runId, [0, 7, 20]);
    expect([...byAddress.keys()]).toEqual([20]);
  });

  it('is erased once, goes on where it was left, and never where it went on meanwhile', async () => {
    const runId = await tenBatches();
    expect(await beginErasure(db.pool, runId, { ...REQUEST, onlyAt: 18 })).toBe(false);
    await expect(assertNotErased(db.pool, [runId])).resolves.toBeUndefined();
    expect(await beginErasure(db.pool, runId, { ...REQUEST, onlyAt: 20 })).toBe(true);
    await purgePayloads(db.pool, runId, 4);
    expect((await verifyRun(db.pool, runId)).erased).toMatchObject({ batches: 4 });
    expect(await beginErasure(db.pool, runId, { ...REQUEST, reason: 'another' })).toBe(false);
    await purged(runId);
    expect(await erasuresOf(db.pool, [runId])).toMatchObject([{ reason: REQUEST.reason, batches: 10 }]);
    await purged(runId);
    expect(await erasuresOf(db.pool, [runId])).toMatchObject([{ batches: 10 }]);
  });

  it('still shows a changed hash, and an emptied payload that no tombstone speaks of', async () => {
    const [erased, emptied] = [await tenBatches(), await tenBatches()];
    await beginErasure(db.pool, erased, REQUEST);
    await purged(erased);
    const client = await db.ownerPool.connect();
    await client.query('set session_replication_role = replica');
    await client.query(`update event_batch set payload_sha256 = sha256('x') where run_id = $1 and first_position = 8`, [
      erased,
    ]);
    await client.query(`update event_batch set payload = '' where run_id = $1 and first_position = 8`, [emptied]);
    await client.query('reset session_replication_role');
    client.release();
    expect((await verifyRun(db.pool, erased)).broken).toMatchObject({ position: 8, what: 'chain hash' });
    expect((await verifyRun(db.pool, emptied)).broken).toMatchObject({ position: 8, what: 'payload' });
  });
});

describe('nobody but the functions of recredit_eraser changes the log', () => {
  it.each([
    `update event_batch set payload = '' where run_id = $1`,
    'update run_stream set erased_position = 5 where run_id = $1',
    'insert into run_erasure (run_id, position, reason, requested_by, row_count) values ($1, 0, $1, $1, 0)',
  ])('not the application: %s', async (sql) => {
    await expect(db.pool.query(sql, [await tenBatches()])).rejects.toThrow('permission denied');
  });

  it('not its owner, and not that role where there is no tombstone, or with another payload', async () => {
    const runId = await tenBatches();
    await expect(db.ownerPool.query(`update event_batch set payload = '' where run_id = $1`, [runId])).rejects.toThrow(
      'is append-only',
    );
    const client = await db.ownerPool.connect();
    try {
      await client.query(`set role recredit_eraser; set recredit.projects = '*'`);
      const update = (payload: string) =>
        client.query('update event_batch set payload = $2 where run_id = $1', [runId, payload]);
      await expect(update('')).rejects.toThrow('is append-only');
      await client.query('reset role');
      await beginErasure(db.pool, runId, REQUEST);
      await client.query('set role recredit_eraser');
      await expect(update('x')).rejects.toThrow('is append-only');
      await expect(update('')).rejects.toThrow('is append-only'); // run.erased itself is one of them
      await expect(client.query('delete from event_batch')).rejects.toThrow('permission denied');
    } finally {
      await client.query('reset role; reset recredit.projects');
      client.release();
    }
  });

  it('and they erase nothing that their caller does not see', async () => {
    const [mine, other] = [await aProject(db.ownerPool), await aProject(db.ownerPool)];
    const runId = await tenBatches(mine);
    await beginErasure(db.pool, runId, REQUEST);
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query(`select set_config('recredit.projects', $1, true)`, [other]);
      await expect(client.query('select purge_payloads($1, 10)', [runId])).rejects.toThrow('is not erased');
    } finally {
      await client.query('rollback');
      client.release();
    }
    await expect(db.pool.query('select purge_payloads($1, 10)', [await tenBatches()])).rejects.toThrow('is not erased');
    const head = 20;
    await expect(
      db.pool.query(`select begin_erasure($1, $2, 'x', 'x', 0)`, [await tenBatches(), head - 2]),
    ).rejects.toThrow('not its last event');
  });
});

async function waitingFor(table: string): Promise<number> {
  const { rows } = await db.ownerPool.query(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%for update%'`,
    [table],
  );
  return rows[0].count;
}
