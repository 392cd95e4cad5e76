import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { appendBatches } from './append.js';
import { aBatch } from './batch.builder.js';
import type { Queryable } from './queryable.js';
import { readEvents } from './read-events.js';
import { readEventsAt } from './read-events-at.js';
import { transact } from './transaction.js';
import { verifyRun } from './verify-run.js';

const BATCHES = 10_000;
const MAX_BLOCKS = 150; // of 8 KiB; a scan of the run takes thousands, one of all runs hundreds

let db: TestDatabase;
let runId: string;
beforeAll(async () => {
  db = await testDatabase();
  const project = await aProject(db.ownerPool);
  runId = await aRun(db.ownerPool, { project });
  await db.ownerPool.query(
    `insert into run (id, project_id, name) select 'other-' || i, $1, 'other-' || i from generate_series(1, 20000) as i`,
    [project],
  );
  const { payload, size, sha256 } = await aBatch('p', 0);
  await db.ownerPool.query(
    `insert into event_batch (run_id, first_position, event_count, producer_id, producer_epoch, batch_sequence,
       codec, payload, payload_size, payload_sha256, chain_hash)
     select $1, i * 2, 2, 'p', 0, i, 'zstd', $2, $3, $4, sha256('') from generate_series(0, $5 - 1) as i`,
    [runId, payload, size, sha256, BATCHES],
  );
  await db.ownerPool.query('insert into run_stream (run_id, next_position) values ($1, $2)', [runId, BATCHES * 2]);
});
afterAll(() => db.drop());

/** Runs each statement twice: to be answered, and to count the blocks that it touches. */
function measuring(inner: Queryable, blocks: number[]): Queryable {
  return {
    query: async (statement: string | { text: string; values: unknown[] }, params?: unknown[]) => {
      const { text, values } = typeof statement === 'string' ? { text: statement, values: params } : statement;
      if (!text.startsWith('with head')) {
        const explained = await inner.query<Record<string, [{ Plan: Record<string, number> }]>>(
          `explain (analyze, buffers, format json) ${text}`,
          values,
        );
        const { Plan: plan } = explained.rows[0]['QUERY PLAN'][0];
        blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      }
      return inner.query(text, values);
    },
  };
}

describe.each(['before it is analyzed', 'after it is analyzed'])('a long run among many, %s', (when) => {
  beforeAll(async () => {
    if (when.startsWith('after')) await db.ownerPool.query('analyze');
  });

  it.each([0, 10_000, 19_000])('is read at %i by touching what is read', async (position) => {
    const blocks: number[] = [];
    expect(await readEvents(measuring(db.pool, blocks), runId, position, { maxBatches: 10 })).toHaveLength(20);
    expect(Math.max(...blocks)).toBeLessThan(MAX_BLOCKS);
  });

  it('is read by address by touching what is read', async () => {
    const blocks: number[] = [];
    const events = await readEventsAt(measuring(db.pool, blocks), runId, [3, 777, 10_000, 19_998]);
    expect(events.size).toBe(4);
    expect(Math.max(...blocks)).toBeLessThan(MAX_BLOCKS);
  });

  it('is appended to by touching what the batches need', async () => {
    const blocks: number[] = [];
    const batches = await Promise.all([5, 9000].map((n) => aBatch('p', n, { content: 'other' })));
    const { decisions } = await transact(db.pool, '*', (client) => {
      const measured = measuring(client, blocks);
      return appendBatches(Object.assign(Object.create(client), measured), runId, batches);
    });
    expect(decisions).toMatchObject([{ code: 'batch.conflicting' }, { code: 'batch.conflicting' }]);
    expect(blocks).toHaveLength(2);
    expect(Math.max(...blocks)).toBeLessThan(MAX_BLOCKS);
  });

  it('is verified page by page', async () => {
    const blocks: number[] = [];
    const { broken } = await verifyRun(measuring(db.pool, blocks), runId, { pageBatches: 50 });
    expect(broken).toMatchObject({ position: 0, what: 'chain hash' });
    expect(Math.max(...blocks)).toBeLessThan(400);
  });
});
