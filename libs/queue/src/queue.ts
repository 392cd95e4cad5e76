import { messageOf, RecreditError } from '#lib/kernel';
import { listenTo, openPool, type Pool } from '#lib/storage';
import { PgBoss, type Db, type JobWithMetadata } from 'pg-boss';
import { z } from 'zod';
import type { Job } from './job.js';
import { reasonOf } from './reason.js';

/** A transaction of the caller's: the jobs are queued when it commits. */
export interface Transaction {
  // oxlint-disable-next-line typescript/no-explicit-any
  query(sql: string, params?: unknown[]): Promise<{ rows: any[] }>;
}

export interface QueueOptions {
  readonly applicationName?: string;
  /** connections of its own, as the database's owner */
  readonly size?: number;
  /** told what went wrong in the background; the queue goes on */
  readonly onError?: (error: Error) => void;
}

/** Where a job of some key stands. */
export interface JobState {
  readonly key: string;
  readonly state: 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** why the last try failed */
  readonly reason: string | null;
  readonly tries: number;
}

/** How many jobs of one name are in one state. `failed` ones are kept for some days. */
export interface QueueDepth {
  readonly job: string;
  readonly state: JobState['state'];
  readonly count: number;
}

type AnyPayload = z.ZodType;

const SCHEMA = 'pgboss';
/** A worker that is silent for so long is taken for dead. pg-boss allows no less. */
const HEARTBEAT_SECONDS = 10;
/** How often the dead are looked for. */
const WATCH_SECONDS = 3;
/** How often a running job is asked whether it was cancelled. */
const CANCEL_CHECK_MS = 1000;
const EXPIRE_SECONDS = 6 * 3600;
const INSERT_AT_ONCE = 5000;

/**
 * Jobs in Postgres, behind the Job contract. A worker that is killed is noticed within 15 seconds and its job taken by
 * another; a notification wakes the workers, and is never the delivery.
 */
export class Queue {
  readonly #boss: PgBoss;
  readonly #pool: Pool;
  readonly #ready = new Map<string, Promise<void>>();
  readonly #running = new Map<string, AbortController>();
  readonly #onError: (error: Error) => void;
  #cancelCheck: NodeJS.Timeout | null = null;

  /** @param url as the database's owner: the queue has its own tables, in its own schema */
  constructor(url: string, { applicationName = 'recredit queue', size = 4, onError = () => {} }: QueueOptions = {}) {
    this.#onError = onError;
    this.#pool = openPool(url, { size: size + 1, applicationName });
    this.#boss = new PgBoss({
      db: databaseOf(this.#pool),
      schema: SCHEMA,
      schedule: false,
      superviseIntervalSeconds: WATCH_SECONDS,
      monitorIntervalSeconds: WATCH_SECONDS,
      useListenNotify: true,
    });
    this.#boss.on('error', onError);
  }

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#pool.query(GRANTS);
    this.#cancelCheck = setInterval(() => void this.#abortCancelled().catch(this.#onError), CANCEL_CHECK_MS);
  }

  /** Takes no more jobs, lets the running ones end for a while, then gives them up: another worker tries again. */
  async stop({ patienceMs = 20_000 }: { patienceMs?: number } = {}): Promise<void> {
    if (this.#cancelCheck) clearInterval(this.#cancelCheck);
    try {
      await this.#boss.stop({ graceful: true, timeout: patienceMs });
    } finally {
      await this.#pool.end();
    }
  }

  /** Queues one job per payload; those whose key waits or runs already are left out. @returns how many were new */
  async enqueue<P extends AnyPayload, Ports>(
    job: Job<P, Ports>,
    payloads: readonly z.infer<P>[],
    { transaction }: { transaction?: Transaction } = {},
  ): Promise<number> {
    await this.#queueOf(job);
    const rows = payloads.map((payload) => ({
      data: job.payload.parse(payload) as object,
      singletonKey: job.key(payload),
    }));
    const db = transaction && { executeSql: (text: string, values?: unknown[]) => transaction.query(text, values) };
    let queued = 0;
    for (let start = 0; start < rows.length; start += INSERT_AT_ONCE) {
      const ids = await this.#boss.insert(job.name, rows.slice(start, start + INSERT_AT_ONCE), {
        returnId: true,
        ...(db && { db }),
      });
      queued += ids?.length ?? 0;
    }
    return queued;
  }

  /** Runs jobs as they come, `concurrency` of them at once in this process. */
  async work<P extends AnyPayload, Ports>(
    job: Job<P, Ports>,
    ports: Ports,
    { concurrency = 1 }: { concurrency?: number } = {},
  ): Promise<void> {
    await this.#queueOf(job);
    for (let i = 0; i < concurrency; i++) await this.#loop(job.name, (one) => this.#try(job, ports, one));
    await this.#loop(failedQueue(job), async (one) => {
      const payload = job.payload.safeParse(one.data);
      if (payload.success) await job.failed?.(payload.data, reasonOf(one.output), ports);
    });
  }

  /** What waits under the keys is taken out; what runs is told to give up, within a second wherever it runs. */
  async cancel<P extends AnyPayload, Ports>(job: Job<P, Ports>, keys: string | readonly string[]): Promise<void> {
    await this.#queueOf(job);
    const { rows } = await this.#pool.query(
      `select id from ${SCHEMA}.job where name = $1 and singleton_key = any($2) and state <= 'active'`,
      [job.name, [keys].flat()],
    );
    if (rows.length > 0)
      await this.#boss.cancel(
        job.name,
        rows.map(({ id }) => id as string),
      );
  }

  /** Where the jobs under the keys stand, the newest of each; a key that never was is left out. */
  async states<P extends AnyPayload, Ports>(job: Job<P, Ports>, keys: readonly string[]): Promise<JobState[]> {
    await this.#queueOf(job);
    const { rows } = await this.#pool.query(
      `select distinct on (singleton_key) singleton_key as key, state, output,
         retry_count + (state >= 'active' and started_on is not null)::int as tries
       from ${SCHEMA}.job where name = $1 and singleton_key = any($2)
       order by singleton_key, created_on desc`,
      [job.name, keys],
    );
    return rows.map(({ key, state, output, tries }) => ({
      key,
      state: STATES[state as keyof typeof STATES],
      reason: output === null || state === 'completed' ? null : reasonOf(output),
      tries,
    }));
  }

  /** How many jobs there are, of every queue; those that are done are not counted. */
  async depths(): Promise<QueueDepth[]> {
    const { rows } = await this.#pool.query(
      `select name as job, state, count(*)::int as count from ${SCHEMA}.job
       where state in ('created', 'retry', 'active', 'failed') group by name, state order by name, state`,
    );
    const counts = new Map<string, QueueDepth>();
    for (const { job, state: theirs, count } of rows) {
      const state = STATES[theirs as keyof typeof STATES];
      const id = `${job} ${state}`;
      counts.set(id, { job, state, count: (counts.get(id)?.count ?? 0) + count });
    }
    return [...counts.values()];
  }

  /** One worker. pg-boss would wait out its polling interval after each job: told that there is news, it asks at once. */
  async #loop(queue: string, run: (job: JobWithMetadata) => Promise<void>): Promise<void> {
    const options = {
      includeMetadata: true,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 2,
      heartbeatRefreshSeconds: 3,
    } as const;
    const worker: string = await this.#boss.work<object, void, typeof options>(queue, options, async ([job]) => {
      try {
        await run(job);
      } finally {
        setImmediate(() => this.#boss.notifyWorker(worker));
      }
    });
  }

  async #try<P extends AnyPayload, Ports>(job: Job<P, Ports>, ports: Ports, one: JobWithMetadata): Promise<void> {
    const payload = job.payload.safeParse(one.data);
    if (!payload.success)
      throw new RecreditError('internal.error', `a ${job.name} that cannot be read: ${z.prettifyError(payload.error)}`);
    const cancelled = new AbortController();
    this.#running.set(one.id, cancelled);
    try {
      const signal = AbortSignal.any([one.signal, cancelled.signal]);
      await job.run(payload.data, ports, { number: one.retryCount + 1, signal });
    } catch (error) {
      // as text: what hangs on an error may be large, or not fit into JSON
      throw cancelled.signal.aborted ? new Error('it was cancelled') : new Error(messageOf(error));
    } finally {
      this.#running.delete(one.id);
    }
  }

  async #abortCancelled(): Promise<void> {
    if (this.#running.size === 0) return;
    const { rows } = await this.#pool.query(
      `select id from ${SCHEMA}.job where id = any($1::uuid[]) and state = 'cancelled'`,
      [[...this.#running.keys()]],
    );
    for (const { id } of rows) this.#running.get(id)?.abort();
  }

  #queueOf<P extends AnyPayload, Ports>(job: Job<P, Ports>): Promise<void> {
    const known = this.#ready.get(job.name);
    if (known) return known;
    const ready = this.#makeQueue(job);
    ready.catch(() => this.#ready.delete(job.name));
    this.#ready.set(job.name, ready);
    return ready;
  }

  async #makeQueue<P extends AnyPayload, Ports>(job: Job<P, Ports>): Promise<void> {
    const settings = {
      retryLimit: job.retryLimit,
      retryDelay: job.retryDelaySeconds ?? 1,
      retryBackoff: (job.retryDelaySeconds ?? 1) > 0,
      expireInSeconds: job.expireSeconds ?? EXPIRE_SECONDS,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      deadLetter: failedQueue(job),
      notify: true,
    };
    await this.#boss.createQueue(failedQueue(job), {
      notify: true,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      retryLimit: 20,
      retryBackoff: true,
    });
    await this.#boss.createQueue(job.name, { ...settings, policy: 'exclusive' });
    await this.#boss.updateQueue(job.name, settings); // where an earlier version made it
  }
}

/** A listening connection of pg-boss's own that dies while it is closed ends the process; one of our pools does not. */
const databaseOf = (pool: Pool): Db => ({
  executeSql: (text, values) => pool.query(text, values),
  listen: async (channel, onNotice, onListening) => listenTo(pool, [channel], { onNotice, onListening }),
});

const failedQueue = (job: { readonly name: string }) => `${job.name}.failed`;

const STATES = {
  created: 'waiting',
  retry: 'waiting',
  active: 'running',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/** So that the application can queue a job in a transaction of its own. It cannot run, change or remove one. */
const GRANTS = `
  select pg_advisory_xact_lock(hashtext('${SCHEMA} grants')); -- two grants on one table at once fail
  grant usage on schema ${SCHEMA} to recredit_app;
  grant select, insert on all tables in schema ${SCHEMA} to recredit_app;
`;
