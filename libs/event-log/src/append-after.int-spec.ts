import type { RecreditError } from '#lib/kernel';
import { openPool, type Pool } from '#lib/storage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { appendOwn } from './append-own.js';
import { aBatch, anEvent } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { verifyRun } from './verify-run.js';

let db: TestDatabase;
let pool: Pool;
let log: EventLog;
let other: EventLog;
/** what the log sent to the database */
let statements: string[] = [];
/** what happens to the statement that stores; none: nothing */
let fault: ((pid: number) => Promise<unknown>) | null = null;

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool(db.url, { role: 'recredit_app', projects: '*', size: 2 });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const pid = (client as unknown as { processID: number }).processID;
    client.query = ((...args: unknown[]) => {
      const [statement] = args as [string | { readonly text: string }];
      const text = typeof statement === 'string' ? statement : statement.text;
      statements.push(text.split(/\s+/, 2).join(' '));
      const callback = args.at(-1) as (...answer: unknown[]) => void;
      const hurt = fault;
      if (!hurt || !text.startsWith('with head') || typeof callback !== 'function') return query(...args);
      fault = null;
      return query(...args.slice(0, -1), () => {
        // it is committed, and the answer does not arrive
        void hurt(pid).then(() => query('select 1', callback));
      });
    }) as typeof client.query;
  });
  log = new EventLog(pool, { notify: false });
  other = new EventLog(db.pool, { notify: false });
});
afterAll(async () => {
  await Promise.all([log.close(), other.close()]);
  await pool.end();
  await db.drop();
});

const send = async (to: EventLog, runId: string, producer: string, sequence: number, options = {}) =>
  (await to.append(runId, await aBatch(producer, sequence, options))).firstPosition;

/** The code of the refusal. */
const refusal = (answer: Promise<unknown>) => answer.catch(({ code }: RecreditError) => code);

async function sent(work: () => Promise<unknown>): Promise<string[]> {
  statements = [];
  await work();
  return statements;
}

const TRANSACTION = ['begin; set', 'select next_position::float8', 'select producer_id', 'with head', 'commit'];

it('appends what follows in one statement, once it knows the end of the run and the producer', async () => {
  const runId = await aRun(db.ownerPool);
  expect(await sent(() => send(log, runId, 'p', 0))).toContain('commit');
  expect(await sent(() => send(log, runId, 'p', 1))).toEqual(['with head']);
  expect(await sent(() => send(log, runId, 'q', 0))).toEqual(TRANSACTION);
  for (const producer of ['p', 'q']) {
    const next = producer === 'p' ? 2 : 1;
    expect(await sent(() => send(log, runId, producer, next))).toEqual(['with head']);
  }
  expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 10, broken: null });
});

it('finds out by a transaction what is not new: a batch that is there, a gap, other bytes, an older epoch', async () => {
  const runId = await aRun(db.ownerPool);
  for (let n = 0; n < 3; n++) await send(log, runId, 'p', n, { epoch: 1 });
  expect(await send(log, runId, 'p', 1, { epoch: 1 })).toBe(2);
  expect(await refusal(send(log, runId, 'p', 7, { epoch: 1 }))).toBe('sequence.unexpected');
  expect(await refusal(send(log, runId, 'p', 2, { epoch: 1, content: 'other' }))).toBe('batch.conflicting');
  expect(await refusal(send(log, runId, 'p', 3, { epoch: 0 }))).toBe('producer.fenced');
  expect(await send(log, runId, 'p', 3, { epoch: 1 })).toBe(6);
});

it('notices that somebody else has appended', async () => {
  const runId = await aRun(db.ownerPool);
  await send(log, runId, 'p', 0);
  await send(log, runId, 'p', 1);
  await send(other, runId, 'p', 2);
  await appendOwn(db.pool, runId, [anEvent('own', 0)]);
  expect(await refusal(send(log, runId, 'p', 2, { content: 'other' }))).toBe('batch.conflicting');
  expect(await send(log, runId, 'p', 3)).toBe(7);
  expect(await send(log, runId, 'p', 4)).toBe(9);
  expect(await sent(() => send(log, runId, 'p', 5))).toEqual(['with head']);
  expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 13, broken: null });
});

it('forgets what it knew of a producer when somebody else has appended, who may have been that producer', async () => {
  const runId = await aRun(db.ownerPool);
  for (const producer of ['q', 'p']) await send(log, runId, producer, 0);
  await send(other, runId, 'q', 1);
  expect(await send(log, runId, 'p', 1)).toBe(6);
  expect(await send(log, runId, 'q', 1)).toBe(4);
  expect(await send(log, runId, 'q', 2)).toBe(8);
});

it('notices that the run was erased', async () => {
  const runId = await aRun(db.ownerPool);
  await send(log, runId, 'p', 0);
  await send(log, runId, 'p', 1);
  await db.ownerPool.query('update run_stream set erased_position = 3 where run_id = $1', [runId]);
  expect(await refusal(send(log, runId, 'p', 2))).toBe('run.erased');
});

it('waits for whoever holds the run, and comes after him', async () => {
  const runId = await aRun(db.ownerPool);
  await send(log, runId, 'p', 0);
  const holder = await db.pool.connect();
  await holder.query('begin');
  await holder.query('select from run_stream where run_id = $1 for update', [runId]);
  statements = [];
  const answer = send(log, runId, 'p', 1);
  await expect.poll(() => statements.at(-1)).toBe('select next_position::float8');
  expect(await appendOwn(holder, runId, [anEvent('own', 0)])).toEqual([2]);
  await holder.query('commit');
  holder.release();
  expect(await answer).toBe(3);
});

it('does not lose or double a batch whose connection dies between commit and answer', async () => {
  const runId = await aRun(db.ownerPool);
  await send(log, runId, 'p', 0);
  fault = (pid) => db.ownerPool.query('select pg_terminate_backend($1)', [pid]);
  expect(await refusal(send(log, runId, 'p', 1))).toBe('database.unavailable');
  expect(await send(log, runId, 'p', 1)).toBe(2);
  expect(await send(log, runId, 'p', 2)).toBe(4);
  expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 6, broken: null });
});

it('knows more producers than it remembers', async () => {
  const runId = await aRun(db.ownerPool);
  const producers = Array.from({ length: 100 }, (_, n) => `p${n}`);
  for (const sequence of [0, 1]) {
    for (const producer of producers) await send(log, runId, producer, sequence);
  }
  expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 400, broken: null });
});
