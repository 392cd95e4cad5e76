import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import { openPool, type Pool, type PoolClient } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { appendBatches } from './append.js';
import type { Acknowledgement } from './batch.js';
import { aBatch, saying } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { headOf } from './heads.js';
import { readEvents } from './read-events.js';
import { transact } from './transaction.js';

const PRODUCERS = Array.from({ length: 24 }, (_, i) => `producer-${i}`);

let db: TestDatabase;
let pools: Pool[];
/** Three EventLogs with a pool each, as three api processes would have. */
let servers: EventLog[];
beforeAll(async () => {
  db = await testDatabase();
  pools = [0, 1, 2].map(() =>
    openPool(db.url, { role: 'recredit_app', projects: '*', size: 4, applicationName: 'event log server' }),
  );
  servers = pools.map((pool) => new EventLog(pool));
});
afterAll(async () => {
  await Promise.all(servers.map((log) => log.close()));
  await Promise.all(pools.map((pool) => pool.end()));
  await db.drop();
});

const send = async (log: EventLog, runId: string, producer: string, sequence: number, options = {}) =>
  log.append(runId, await aBatch(producer, sequence, options));

/** 40 batches of two, in order, at changing servers, each sent again for as long as the database is not there. */
async function sendForty(runId: string, producer: string): Promise<{ answers: Acknowledgement[]; resent: number }> {
  const answers: Acknowledgement[] = [];
  let tries = 0;
  while (answers.length < 40) {
    try {
      answers.push(await send(servers[tries++ % servers.length], runId, producer, answers.length));
    } catch (error) {
      if (!(error instanceof RecreditError && error.code === 'database.unavailable')) throw error;
    }
  }
  return { answers, resent: tries - 40 };
}

/** All events of all producers, once each, at positions without a gap, every producer's in the order it sent them. */
async function expectWhole(runId: string): Promise<void> {
  const events = await readAll(runId);
  expect(events.map((each) => each.position)).toEqual(Array.from({ length: 24 * 80 }, (_, i) => i));
  for (const producer of PRODUCERS) {
    const own = events.map(({ event }) => saying(event)).filter((said) => said.startsWith(`${producer}:`));
    expect(own).toEqual(Array.from({ length: 80 }, (_, i) => `${producer}:${i}`));
  }
}

async function readAll(runId: string) {
  const events = await readEvents(db.pool, runId, 0);
  while (events.length < (await headOf(db.pool, runId))) {
    events.push(...(await readEvents(db.pool, runId, events.length)));
  }
  return events;
}

describe('a race of 24 producers on one run at three servers', () => {
  it('loses nothing, and never shows a hole', async () => {
    const runId = await aRun(db.ownerPool);
    const race = Promise.all(PRODUCERS.map((producer) => sendForty(runId, producer)));
    const seen: number[] = [];
    while (seen.length < 24 * 80) {
      seen.push(...(await readEvents(db.pool, runId, seen.length, { maxBatches: 7 })).map((each) => each.position));
      await sleep(1);
    }
    await race;
    expect(seen).toEqual(seen.map((_, i) => i));
    await expectWhole(runId);
  });

  it('stores every event once when connections are killed in the middle of it', async () => {
    const runId = await aRun(db.ownerPool);
    const over = new AbortController();
    const kill = async () => {
      while (!over.signal.aborted) {
        await db.ownerPool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'event log server' and datname = current_database() order by random() limit 1`,
        );
        await sleep(25); // time for some to come through: a new connection takes 10 ms
      }
    };
    const killing = kill();
    const races = await Promise.all(PRODUCERS.map((producer) => sendForty(runId, producer)));
    over.abort();
    await killing;

    expect(races.reduce((sum, { resent }) => sum + resent, 0)).toBeGreaterThan(10);
    await expectWhole(runId);
    const positions = races.flatMap(({ answers }) => answers.map((answer) => answer.firstPosition));
    expect(positions.toSorted((a, b) => a - b)).toEqual(positions.map((_, i) => i * 2));
  });
});

describe('what a producer is told', () => {
  it('acknowledges a resend with the position it has, whoever is asked', async () => {
    const runId = await aRun(db.ownerPool);
    // the three that come while the first is being stored share a transaction
    const batches = await Promise.all([0, 1, 2, 2].map((n) => aBatch('p', n)));
    const pipelined = await Promise.all(batches.map((each) => servers[0].append(runId, each)));
    const resent = await Promise.all(servers.flatMap((log) => [1, 3, 3].map((n) => send(log, runId, 'p', n))));

    expect(pipelined.map((answer) => answer.firstPosition)).toEqual([0, 2, 4, 4]);
    expect(resent.map((answer) => answer.firstPosition)).toEqual([2, 6, 6, 2, 6, 6, 2, 6, 6]);
    expect([...pipelined, ...resent].filter((answer) => !answer.duplicate)).toHaveLength(4);
    expect((await readAll(runId)).map(({ event }) => saying(event))).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `p:${n}`),
    );
  });

  it('puts batches of one producer in order that overtook each other while they waited', async () => {
    const runId = await aRun(db.ownerPool);
    const batches = await Promise.all([0, 3, 1, 2].map((n) => aBatch('p', n)));
    const answers = await Promise.all(batches.map((batch) => servers[0].append(runId, batch)));
    expect(answers.map((answer) => answer.firstPosition)).toEqual([0, 6, 2, 4]);
  });

  it('refuses other content, a gap and an older epoch, and stores what came along with them', async () => {
    const runId = await aRun(db.ownerPool);
    await send(servers[0], runId, 'p', 0);
    const answers = await Promise.allSettled([
      send(servers[0], runId, 'p', 1, { epoch: 1 }),
      send(servers[0], runId, 'p', 0, { epoch: 1, content: 'other' }),
      send(servers[0], runId, 'p', 5, { epoch: 1 }),
      send(servers[0], runId, 'q', 0),
    ]);
    const late = await Promise.allSettled([send(servers[1], runId, 'p', 2, { epoch: 0 })]);

    expect([...answers, ...late].map((answer) => answer.status === 'rejected' && answer.reason.code)).toEqual([
      false,
      'batch.conflicting',
      'sequence.unexpected',
      false,
      'producer.fenced',
    ]);
    expect(await headOf(db.pool, runId)).toBe(6);
  });

  it('recognises a batch whose connection died after the commit', async () => {
    const runId = await aRun(db.ownerPool);
    const pool = openPool(db.url, { role: 'recredit_app', projects: '*', size: 1 });
    const log = new EventLog(pool);
    pool.once('acquire', dieAfterCommit);

    await expect(send(log, runId, 'p', 0)).rejects.toMatchObject({ code: 'database.unavailable', status: 503 });
    await expect(send(log, runId, 'p', 0)).resolves.toEqual({ firstPosition: 0, duplicate: true });
    await log.close();
    await pool.end();
  });

  it('says so when there is no such run', async () => {
    await expect(send(servers[0], 'nowhere', 'p', 0)).rejects.toMatchObject({ code: 'run.unknown' });
  });

  it('asks to come later when too much waits, and takes what waits to its end when it closes', async () => {
    const runId = await aRun(db.ownerPool);
    const batches = await Promise.all([0, 1, 2, 3].map((n) => aBatch('p', n)));
    const log = new EventLog(db.pool, { maxWaitingBytes: batches[0].payload.length * 3.5 });
    let answered = 0;
    const sent = batches.map((batch) => log.append(runId, batch).finally(() => answered++));
    const settled = Promise.allSettled(sent);
    await log.close();
    expect(answered).toBe(4);

    const answers = [...(await settled), ...(await Promise.allSettled([log.append(runId, batches[3])]))];
    expect(
      answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : answer.value.firstPosition)),
    ).toEqual([0, 2, 4, 'capacity.exceeded', 'database.unavailable']);
    expect(await headOf(db.pool, runId)).toBe(6);
  });
});

describe('the cost of an append', () => {
  it.each([1, 10, 100])('is three statements for one transaction, however many batches (%i)', async (count) => {
    const runId = await aRun(db.ownerPool);
    await send(servers[0], runId, 'first', 0);
    const batches = await Promise.all(Array.from({ length: count }, (_, n) => aBatch('p', n)));
    const statements = await transact(db.pool, '*', async (client) => {
      let sent = 0;
      const counting = new Proxy(client, {
        get: (target, name) => {
          if (name === 'query') sent++;
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      await appendBatches(counting, runId, batches);
      return sent;
    });
    expect(statements).toBe(3);
    expect(await headOf(db.pool, runId)).toBe(2 + 2 * count);
  });

  it('is one turn at the lock for all that wait meanwhile', async () => {
    const runId = await aRun(db.ownerPool);
    await Promise.all(PRODUCERS.map((producer) => send(servers[0], runId, producer, 0)));
    const { rows } = await db.ownerPool.query(
      'select count(distinct xmin::text)::int as transactions from event_batch where run_id = $1',
      [runId],
    );
    expect(rows[0].transactions).toBeLessThan(12);
  });
});

describe('an append that is confined to projects', () => {
  it('reaches their runs and no others', async () => {
    const [mine, other] = [await aProject(db.ownerPool), await aProject(db.ownerPool)];
    const runId = await aRun(db.ownerPool, { project: mine });
    await expect(servers[0].append(runId, await aBatch('p', 0), other)).rejects.toMatchObject({ code: 'run.unknown' });
    await expect(servers[0].append(runId, await aBatch('p', 0), `${other},${mine}`)).resolves.toMatchObject({
      firstPosition: 0,
    });
    await expect(servers[0].append(runId, await aBatch('p', 0), other)).rejects.toMatchObject({ code: 'run.unknown' });
  });
});

/** The commit goes through, and the connection dies before anybody hears of it. */
function dieAfterCommit(client: PoolClient): void {
  const query = client.query.bind(client);
  const send = async (sql: string, params?: unknown[]) => {
    if (sql !== 'commit') return query(sql, params);
    const { rows } = await query<{ pid: number }>('select pg_backend_pid() as pid');
    await query('commit');
    await db.ownerPool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    return query('select 1');
  };
  Object.assign(client, { query: send });
}
