import type { Pool } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { aBatch } from './batch.builder.js';
import { EventLog } from './event-log.js';

let db: TestDatabase;
let runId: string;
let projectId: string;
beforeAll(async () => {
  db = await testDatabase();
  projectId = await aProject(db.ownerPool);
  runId = await aRun(db.ownerPool, { project: projectId });
  const log = new EventLog(db.pool);
  await log.append(runId, await aBatch('p', 0));
  await log.close();
});
afterAll(() => db.drop());

const PARTITIONS = Array.from({ length: 16 }, (_, i) => `event_batch_${i}`);
const CHANGES = [
  `update event_batch set payload = ''`,
  `update event_batch set event_count = event_count`,
  'delete from event_batch',
  'truncate event_batch',
  'truncate event_batch_3',
  'delete from run_stream',
  'truncate run_stream',
];

describe('the log is append-only', () => {
  it.each(CHANGES)('for its owner: %s', async (sql) => {
    await expect(db.ownerPool.query(sql)).rejects.toThrow('is append-only');
  });

  it.each(CHANGES)('for the application: %s', async (sql) => {
    await expect(db.pool.query(sql)).rejects.toThrow('permission denied');
  });

  it.each(PARTITIONS)('in %s, touched directly', async (partition) => {
    await expect(db.ownerPool.query(`truncate ${partition}`)).rejects.toThrow('is append-only');
    await expect(db.pool.query(`select from ${partition}`)).rejects.toThrow('permission denied');
  });

  it('also where its own partition is named', async () => {
    const { rows } = await db.ownerPool.query('select tableoid::regclass::text as partition from event_batch');
    for (const change of [`delete from ${rows[0].partition}`, `update ${rows[0].partition} set codec = codec`]) {
      await expect(db.ownerPool.query(change)).rejects.toThrow('is append-only');
    }
  });

  it('and no run with events is deleted', async () => {
    await expect(db.ownerPool.query('delete from run where id = $1', [runId])).rejects.toThrow('foreign key');
    await expect(db.ownerPool.query('truncate run cascade')).rejects.toThrow('is append-only');
  });
});

describe('a session', () => {
  const INSERT = `insert into event_batch (run_id, first_position, event_count, producer_id, producer_epoch,
    batch_sequence, codec, payload, payload_size, payload_sha256, chain_hash)
    values ($1, 2, 1, 'intruder', 0, 0, 'zstd', 'x', 1, sha256(''), sha256(''))`;
  const HEAD = `update run_stream set next_position = next_position + 1 where run_id = $1`;

  it('confined to another project sees nothing of a run, cannot add to it and cannot move its head', async () => {
    const other = await aProject(db.ownerPool);
    await aRun(db.ownerPool, { project: other });
    await confined(db.pool, other, async (query) => {
      expect(await query('select from event_batch')).toBe(0);
      expect(await query('select from run_stream')).toBe(0);
      expect(await query(HEAD, [runId])).toBe(0);
      await expect(query(INSERT, [runId])).rejects.toThrow('row-level security');
    });
  });

  it('confined to nothing sees nothing', async () => {
    await confined(db.pool, '', async (query) => {
      expect(await query('select from event_batch')).toBe(0);
      expect(await query('select from run_stream')).toBe(0);
    });
  });

  it('confined to the project sees it', async () => {
    await confined(db.pool, `nothing,${projectId}`, async (query) => {
      expect(await query('select from event_batch')).toBe(1);
      expect(await query('select from run_stream')).toBe(1);
      expect(await query(HEAD, [runId])).toBe(1);
      expect(await query(INSERT, [runId])).toBe(1);
    });
  });
});

/** In a transaction that is rolled back. `query` gives the number of rows. */
async function confined(
  pool: Pool,
  projects: string,
  work: (query: (sql: string, params?: unknown[]) => Promise<number | null>) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('recredit.projects', $1, true)`, [projects]);
    await work(async (sql, params) => (await client.query(sql, params)).rowCount);
  } finally {
    await client.query('rollback');
    client.release();
  }
}
