import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { defineJob } from './job.js';
import { Queue } from './queue.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  const first = new Queue(db.url);
  await first.start();
  await first.stop();
  await db.ownerPool.query(
    'create table done (key text, worker text, at timestamptz default clock_timestamp(), ended timestamptz)',
  );
});
afterAll(() => db.drop());

const queues: Queue[] = [];
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.stop({ patienceMs: 2000 })));
});

async function aQueue(): Promise<Queue> {
  const queue = new Queue(db.url);
  queues.push(queue);
  await queue.start();
  return queue;
}

/** A job of its own for one `it`; its ports say what to do. */
type Ports = {
  run(key: string, signal: AbortSignal): Promise<void>;
  failed?(key: string, reason: string): Promise<void>;
};
let jobs = 0;
const aJob = ({ retryLimit = 2 } = {}) =>
  defineJob({
    name: `test-job-${++jobs}`,
    payload: z.strictObject({ key: z.string() }),
    key: ({ key }) => key,
    retryLimit,
    retryDelaySeconds: 0,
    run: ({ key }, ports: Ports, { signal }) => ports.run(key, signal),
    failed: async ({ key }, reason, ports) => ports.failed?.(key, reason),
  });

const keys = (count: number) => Array.from({ length: count }, (_, i) => ({ key: `k${i}` }));

describe('a queue', () => {
  it('runs each job once, however many workers look for it', async () => {
    const job = aJob();
    const ran: string[] = [];
    const active = new Set<string>();
    const run = async (key: string) => {
      if (active.has(key)) throw new Error(`${key} runs twice at once`);
      active.add(key);
      await sleep(5);
      active.delete(key);
      ran.push(key);
    };
    const [a, b] = await Promise.all([aQueue(), aQueue()]);
    expect(await a.enqueue(job, keys(200))).toBe(200);
    await Promise.all([a, b].map((queue) => queue.work(job, { run }, { concurrency: 4 })));
    await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(200);
    expect(new Set(ran).size).toBe(200);
  });

  it('does not wait between one job and the next, nor before the first', async () => {
    const job = aJob();
    const queue = await aQueue();
    const ran = vi.fn(async () => {});
    await queue.work(job, { run: ran });
    await sleep(700);
    const started = Date.now();
    await queue.enqueue(job, keys(50));
    await expect.poll(() => ran.mock.calls.length, { interval: 5 }).toBe(50);
    expect(Date.now() - started).toBeLessThan(1500); // polling alone would take 25 s
  });

  it('keeps one job per key while it waits or runs, and takes it again afterwards', async () => {
    const job = aJob();
    const queue = await aQueue();
    expect(await queue.enqueue(job, [{ key: 'a' }, { key: 'a' }, { key: 'b' }])).toBe(2);
    expect(await queue.enqueue(job, [{ key: 'a' }])).toBe(0);
    await queue.work(job, { run: async () => {} });
    await expect
      .poll(() => queue.states(job, ['a', 'b', 'c']))
      .toMatchObject([
        { key: 'a', state: 'completed', reason: null, tries: 1 },
        { key: 'b', state: 'completed' },
      ]);
    expect(await queue.enqueue(job, [{ key: 'a' }])).toBe(1);
  });

  it('queues with the transaction of the application, or not at all', async () => {
    const job = aJob();
    const queue = await aQueue();
    const client = await db.pool.connect();
    for (const [key, end] of [
      ['kept', 'commit'],
      ['lost', 'rollback'],
    ] as const) {
      await client.query('begin');
      expect(await queue.enqueue(job, [{ key }], { transaction: client })).toBe(1);
      expect(await queue.states(job, [key])).toEqual([]);
      await client.query(end);
    }
    client.release();
    expect((await queue.states(job, ['kept', 'lost'])).map(({ key }) => key)).toEqual(['kept']);
  });

  it('can be started by many processes at the same time, on an empty database', async () => {
    const fresh = await testDatabase();
    const job = aJob();
    const many = Array.from({ length: 6 }, () => new Queue(fresh.url, { size: 2 }));
    await Promise.all(many.map((queue) => queue.start()));
    const queued = await Promise.all(many.map((queue) => queue.enqueue(job, keys(1), { transaction: fresh.pool })));
    expect(queued.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, 1]);
    await Promise.all(many.map((queue) => queue.stop()));
    await fresh.drop();
  });

  it('refuses a payload that is none', async () => {
    const queue = await aQueue();
    await expect(queue.enqueue(aJob(), [{ wrong: 1 } as never])).rejects.toThrow();
  });
});

describe('a job that fails', () => {
  it('is tried three times, then failed with its reason, alone', async () => {
    const job = aJob();
    const queue = await aQueue();
    let tries = 0;
    const failed = vi.fn(async () => {});
    const run = async (key: string) => {
      if (key === 'k1') throw new Error(`no good, try ${++tries}`);
    };
    await queue.enqueue(job, keys(3));
    await queue.work(job, { run, failed });
    await expect.poll(() => failed.mock.calls, { timeout: 15_000 }).toEqual([['k1', 'no good, try 3']]);
    const states = await queue.states(job, ['k0', 'k1', 'k2']);
    expect(states.map(({ state, reason, tries: n }) => [state, reason, n])).toEqual([
      ['completed', null, 1],
      ['failed', 'no good, try 3', 3],
      ['completed', null, 1],
    ]);
  });
});

it('stops while the database ends its connections', async () => {
  const queue = new Queue(db.url, { applicationName: 'leaving' });
  await queue.start();
  const { rows } = await db.ownerPool.query(
    `select pid from pg_stat_activity where application_name = 'leaving' and datname = current_database()`,
  );
  const backends = rows.map(({ pid }) => pid as number);
  expect(backends.length).toBeGreaterThan(1);
  // each is told to end before it reads that its client leaves; unheard, its last word ends the process
  for (const pid of backends) process.kill(pid, 'SIGSTOP');
  const stopped = queue.stop({ patienceMs: 1000 });
  await sleep(200);
  await db.ownerPool.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [backends]);
  for (const pid of backends) process.kill(pid, 'SIGCONT');
  await stopped;
});

describe('cancelling', () => {
  it('takes out what waits and stops what runs', async () => {
    const job = aJob();
    const [queue, elsewhere] = await Promise.all([aQueue(), aQueue()]);
    const started: string[] = [];
    const ended: string[] = [];
    const run = async (key: string, signal: AbortSignal) => {
      started.push(key);
      await sleep(60_000, undefined, { signal }).finally(() => ended.push(key));
    };
    await queue.enqueue(job, keys(2));
    await queue.work(job, { run });
    await expect.poll(() => started.length).toBe(1);
    await elsewhere.cancel(job, ['k0', 'k1']);
    await expect.poll(() => ended, { timeout: 5000 }).toEqual(started);
    await sleep(500);
    expect((await queue.states(job, ['k0', 'k1'])).map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect(started).toHaveLength(1);
  });
});

describe('a worker that dies', () => {
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  /** A process of its own; it tells when it has begun a job. */
  function aWorker(job: string, name: string, ms: number): ChildProcess {
    const child = fork(
      new URL('../../../test/support/queue-worker.ts', import.meta.url),
      [db.url, job, name, String(ms)],
      {
        execArgv: ['--import', new URL('../../../test/support/register-libs.mjs', import.meta.url).href],
      },
    );
    children.push(child);
    return child;
  }

  const begun = (child: ChildProcess) =>
    Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the worker ended with ${code}`))),
    ]);

  it('by kill -9 in the middle of a job leaves it to another', async () => {
    const queue = await aQueue();
    const job = defineJob({ ...aJob(), name: 'outlive' });
    await queue.enqueue(job, [{ key: 'precious' }]);
    const doomed = aWorker('outlive', 'doomed', 60_000);
    await begun(doomed);
    doomed.kill('SIGKILL');
    const killed = Date.now();
    const heir = aWorker('outlive', 'heir', 50);
    await begun(heir);
    await expect
      .poll(() => queue.states(job, ['precious']), { timeout: 30_000 })
      .toMatchObject([{ state: 'completed', tries: 2 }]);
    expect(Date.now() - killed).toBeLessThan(25_000);
    const { rows } = await db.ownerPool.query('select worker, ended is not null as ended from done order by at');
    expect(rows).toEqual([
      { worker: 'doomed', ended: false },
      { worker: 'heir', ended: true },
    ]);
  });

  it('of the job, each time, makes it fail with that reason', async () => {
    const queue = await aQueue();
    const job = defineJob({ ...aJob({ retryLimit: 0 }), name: 'deadly' });
    const failed = vi.fn(async () => {});
    await queue.enqueue(job, [{ key: 'poison' }]);
    const doomed = aWorker('deadly', 'doomed', 60_000);
    await begun(doomed);
    doomed.kill('SIGKILL');
    await queue.work(job, { run: async () => {}, failed });
    await expect
      .poll(() => failed.mock.calls, { timeout: 30_000 })
      .toEqual([['poison', 'its worker died or stopped answering']]);
  });

  it('by kill -TERM hands its job back', async () => {
    const queue = await aQueue();
    const job = defineJob({ ...aJob(), name: 'hand-back' });
    await queue.enqueue(job, [{ key: 'precious' }]);
    const leaving = aWorker('hand-back', 'leaving', 60_000);
    await begun(leaving);
    leaving.kill('SIGTERM');
    await once(leaving, 'exit');
    await queue.work(job, { run: async () => {} });
    await expect.poll(() => queue.states(job, ['precious']), { timeout: 5000 }).toMatchObject([{ state: 'completed' }]);
  });
});
