import { availableParallelism, hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  areDevicesAsked,
  computeShardJob,
  planAnalysisJob,
  recordDevices,
  type ShardAddress,
  type ShardAnswer,
  type ShardTask,
} from '#lib/analysis';
import {
  auditRunJob,
  diagnoseRunJob,
  FigureMemory,
  findNearestTurnsJob,
  measureAsOfJob,
  runsToDiagnose,
  type AuditedStep,
  type AuditTask,
  type MeasuredFigures,
  type MeasureTask,
  type NearestInStep,
  type NearestTask,
  type SeekTask,
} from '#lib/diagnosis';
import type { SoughtState } from '#lib/credit-learned';
import type { Comparison } from '#lib/diagnostics';
import { eraseExpiredJob, eraseRunJob, EXPIRY_CHECK_MS } from '#lib/erasure';
import { systemClock } from '#lib/kernel';
import type { OwnEstimator } from '#lib/own-estimators';
import { Projector } from '#lib/projection';
import { Queue } from '#lib/queue';
import { openPool, openSegmentStore, type Pool } from '#lib/storage';
import { deliverWebhookJob, undelivered } from '#lib/webhooks';
import type { DeviceWish } from '#lib/tensor';
import type { Logger } from 'pino';
import { probedDevices } from './probed-devices.js';
import type {
  AuditThreadTask,
  MeasureThreadTask,
  NearestThreadTask,
  SeekThreadTask,
  ThreadTask,
} from './shard-thread.js';
import { SHARDS_PER_THREAD, shardThreads } from './shard-threads.js';

/** How often runs are looked for that advanced since they were diagnosed. */
const DIAGNOSIS_CHECK_MS = 3_000;

/** An old run that is caught up must not hold up the alerts of one that goes on. */
const DIAGNOSES_AT_ONCE = 2;

/** How often a worker sees whether somebody asked for its devices. */
const DEVICES_CHECK_MS = 3_000;

/** How often deliveries are looked for that nobody queued, since whoever made them died. */
const DELIVERY_CHECK_MS = 30_000;

/** Deliveries under way at once: a receiver that does not answer holds one of them up. */
const DELIVERIES_AT_ONCE = 4;

/** A database that died comes back by replaying its log, which takes seconds; a worker that starts meanwhile waits. */
const PATIENCE_MS = 30_000;

/** What runs longer goes back to the queue, before the platform loses its patience with this process. */
const STOP_MS = 10_000;

export interface WorkerSettings {
  /** as the database's owner: the queue needs it; everything else steps down to the application's role */
  readonly databaseUrl: string;
  /** URL of the segment store */
  readonly segments: string;
  /** threads, each of which computes one shard at a time; as many as there are cores if not said */
  readonly concurrency?: number;
  /** users' own, beside ours */
  readonly ownEstimators?: readonly OwnEstimator[];
  /** what learns or compares states computes on; the first that is there if not said */
  readonly device?: DeviceWish;
}

export interface Worker {
  /** lets what is under way end, for a while */
  stop(): Promise<void>;
}

/** A worker: it keeps the read models level with the log, and computes shards. Any number of them share the work. */
export async function startWorker(settings: WorkerSettings, logger: Logger): Promise<Worker> {
  const { databaseUrl, segments, concurrency = availableParallelism(), ownEstimators = [], device = 'auto' } = settings;
  const pool = openPool(databaseUrl, {
    role: 'recredit_app',
    projects: '*',
    size: 8 + concurrency * SHARDS_PER_THREAD,
    applicationName: 'recredit worker',
  });
  // what erases gives space back, which only the owner may
  const owner = openPool(databaseUrl, { size: 1, applicationName: 'recredit worker' });
  const store = await openSegmentStore(segments);
  const queue = new Queue(databaseUrl, {
    onError: ({ message }) => logger.warn({ reason: message }, 'the queue met an error'),
  });
  const threads = shardThreads(concurrency, { ownEstimators, device });
  const projector = new Projector({
    pool,
    store,
    onError: (run, error) => logger.error({ err: error, run }, 'a run could not be projected'),
  });

  await untilAnswered(pool);
  await queue.start();
  projector.start();
  const conclude = (summary: Uint8Array): Promise<Comparison> => threads.run(summary, { name: 'conclude' });
  const compute = (task: ShardTask): Promise<ShardAnswer> =>
    threads.run({ segments, task } satisfies ThreadTask, { name: 'compute' });
  const enqueue = async (shards: readonly ShardAddress[]) => void (await queue.enqueue(computeShardJob, shards));
  await queue.work(planAnalysisJob, { pool, conclude, compute: enqueue });
  const discard = async (keys: readonly string[]) => void (await Promise.all(keys.map((key) => store.delete(key))));
  const shardPorts = { pool, conclude, compute, discard };
  await queue.work(computeShardJob, shardPorts, { concurrency: concurrency * SHARDS_PER_THREAD });

  const measure = (task: MeasureTask): Promise<MeasuredFigures[]> =>
    threads.run({ segments, task } satisfies MeasureThreadTask, { name: 'measure' });
  const lookForUndelivered = () =>
    undelivered(pool)
      .then(async (tellings) => void (await queue.enqueue(deliverWebhookJob, tellings)))
      .catch((error: unknown) => logger.warn({ err: error }, 'deliveries to webhooks could not be looked for'));
  await queue.work(deliverWebhookJob, { pool }, { concurrency: DELIVERIES_AT_ONCE });
  // with one for each thread, a thread that is there already would be given two, and the others never start
  const diagnosisPorts = {
    pool,
    measure,
    alerted: lookForUndelivered,
    concurrency: concurrency * SHARDS_PER_THREAD,
    memory: new FigureMemory(),
  };
  await queue.work(diagnoseRunJob, diagnosisPorts, { concurrency: DIAGNOSES_AT_ONCE });
  await queue.work(measureAsOfJob, diagnosisPorts);
  const audit = (task: AuditTask): Promise<AuditedStep[]> =>
    threads.run({ segments, task } satisfies AuditThreadTask, { name: 'audit' });
  await queue.work(auditRunJob, { pool, audit, concurrency });
  const seek = (task: SeekTask): Promise<SoughtState | null> =>
    threads.run({ segments, task } satisfies SeekThreadTask, { name: 'seek' });
  const nearest = (task: NearestTask): Promise<NearestInStep[]> =>
    threads.run({ segments, task } satisfies NearestThreadTask, { name: 'nearest' });
  await queue.work(findNearestTurnsJob, { pool, seek, nearest, concurrency });
  const lookForAdvanced = () =>
    void runsToDiagnose(pool)
      .then((runs) => queue.enqueue(diagnoseRunJob, runs))
      .catch((error: unknown) => logger.warn({ err: error }, 'runs that advanced could not be looked for'));
  const diagnosis = setInterval(lookForAdvanced, DIAGNOSIS_CHECK_MS);

  void lookForUndelivered();
  const delivery = setInterval(() => void lookForUndelivered(), DELIVERY_CHECK_MS);

  let looking: Promise<void> | null = null;
  const lookForDevices = () => {
    looking ??= sayDevices(pool, device)
      .catch((error: unknown) => logger.warn({ err: error }, 'devices could not be looked for'))
      .finally(() => (looking = null));
  };
  const devices = setInterval(lookForDevices, DEVICES_CHECK_MS);

  const log = (message: string, details: object) => logger.info(details, message);
  const finish = async (runId: string) => void (await queue.enqueue(eraseRunJob, [{ runId }]));
  await queue.work(eraseRunJob, { pool, owner, store, log });
  await queue.work(eraseExpiredJob, { pool, clock: systemClock, finish, log });
  const lookForExpired = () =>
    void queue
      .enqueue(eraseExpiredJob, [{}])
      .catch((error: unknown) => logger.warn({ err: error }, 'runs that are kept no longer could not be looked for'));
  lookForExpired();
  const expiry = setInterval(lookForExpired, EXPIRY_CHECK_MS);

  return {
    stop: async () => {
      clearInterval(expiry);
      clearInterval(devices);
      clearInterval(diagnosis);
      clearInterval(delivery);
      await Promise.all([queue.stop({ patienceMs: STOP_MS }), projector.stop()]);
      await threads.destroy();
      await Promise.all([pool.end(), owner.end()]);
    },
  };
}

/** Tries the devices of this machine, where somebody asked for them since it was last done. */
async function sayDevices(pool: Pool, wish: DeviceWish): Promise<void> {
  const host = hostname();
  if (!(await areDevicesAsked(pool, host))) return;
  const reports = await probedDevices(wish);
  const found =
    typeof reports === 'string'
      ? [{ device: wish, isThere: false, isChosen: false, found: reports }]
      : reports.map(({ id, isThere, chosen, found: said }) => ({ device: id, isThere, isChosen: chosen, found: said }));
  await recordDevices(pool, host, found);
}

async function untilAnswered(pool: Pool): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    try {
      await pool.query('select 1');
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
