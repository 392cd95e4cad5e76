import { mkdir } from 'node:fs/promises';
import { BodyChecks, Estimation, startApi } from '#app/api';
import {
  Authenticator,
  confine,
  createFirstKey,
  createKey,
  ensureProject,
  RateLimiter,
  revokeKey,
  type Confined,
} from '#lib/access';
import { EventLog } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { catalogueWith, readOwnEstimators } from '#lib/own-estimators';
import { Queue } from '#lib/queue';
import { openPool, openSegmentStore, startEmbeddedPostgres, type SegmentStore } from '#lib/storage';
import { MIGRATIONS } from '#migrations';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { readFirstKey, removeRunningUrl, writeFirstKey, writeRunningUrl } from './home-files.js';
import { migrate } from './migrate.js';
import { startWorkerProcess } from './worker-process.js';

/** The API, its workers and, unless another one is named, its own Postgres. */
export interface Platform {
  readonly url: string;
  /** the first admin key, when this start made it */
  readonly firstKey: string | null;
  /** An admin key for whoever started it: one that is at hand, or one for as long as the platform runs. */
  adminKey(): Promise<string>;
  stop(): Promise<void>;
}

export interface PlatformOptions {
  readonly workers: number;
  readonly logger: Logger;
  /** where the workers' log goes: a file descriptor; default: standard error */
  readonly workerLog?: number;
}

const WORKER = new URL('../../worker/src/main.js', import.meta.url);
/** A project to begin with, so that nobody has to make one. */
const FIRST_PROJECT = 'default';

/** Starts the whole platform. What was started is stopped again when a later part fails. */
export async function startPlatform(config: Config, options: PlatformOptions): Promise<Platform> {
  const { workers, logger, workerLog = 'inherit' } = options;
  const started: (() => Promise<unknown>)[] = [];
  let drain: () => Promise<void> = async () => {};
  const stop = async () => {
    void drain(); // while the workers end what they are at, nothing new is taken
    for (const end of started.splice(0).reverse()) {
      await end().catch((error: unknown) => logger.error({ err: error }, 'a part did not stop cleanly'));
    }
  };
  try {
    const ownEstimators = await readOwnEstimators(config.estimators);
    await mkdir(config.home, { recursive: true, mode: 0o700 });
    const databaseUrl = config.databaseUrl ?? (await startDatabase(config.home, started, logger));
    await migrate(databaseUrl);
    const pool = openPool(databaseUrl, { role: 'recredit_app', size: 10, applicationName: 'recredit api' });
    const platform = openPool(databaseUrl, {
      role: 'recredit_app',
      projects: '*',
      size: 10,
      applicationName: 'recredit api',
    });
    started.push(() => Promise.all([pool.end(), platform.end()]));
    const store = await openSegmentStore(config.segments);
    await assertReachable(store, logger);
    const queue = new Queue(databaseUrl, {
      onError: ({ message }) => logger.warn({ reason: message }, 'the queue met an error'),
    });
    await queue.start();
    started.push(() => queue.stop());
    const log = new EventLog(platform);
    started.push(() => log.close());
    const authenticator = new Authenticator(pool);
    const everything = confine(pool, '*');
    const firstKey = await makeFirstKey(config.home, everything);
    const estimators = catalogueWith(ownEstimators);
    const estimation = new Estimation(ownEstimators);
    started.push(() => estimation.close());
    const bodyChecks = new BodyChecks();
    started.push(() => bodyChecks.close());
    const limiter = new RateLimiter(config.limits);
    const answering = { estimators, estimation, bodyChecks, limiter, migrations: MIGRATIONS };
    const ports = { pool, platform, log, queue, store, authenticator, ...answering };
    const api = await listening(config, () => startApi(ports, { host: config.host, port: config.port, logger }));
    drain = () => api.drain();
    started.push(() => api.close());
    await writeRunningUrl(config.home, api.url);
    started.push(() => removeRunningUrl(config.home));

    const { segments, device } = config;
    const settings = { databaseUrl, segments, ownEstimators, device };
    const processes = Array.from({ length: workers }, () =>
      startWorkerProcess({ main: WORKER, settings, logger, stderr: workerLog }),
    );
    started.push(() => Promise.all(processes.map((process) => process.stop())));
    await Promise.all(processes.map(({ ready }) => ready));
    const adminKey = async () => {
      const atHand = [config.apiKey, firstKey, await readFirstKey(config.home)];
      for (const key of atHand) if (key && (await isKnown(authenticator, key))) return key;
      return temporaryKey(everything, started);
    };
    return { url: api.url, firstKey, adminKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDatabase(home: string, started: (() => Promise<unknown>)[], logger: Logger): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    home,
    onFailure: (error) => logger.fatal({ err: error }, 'the embedded Postgres does not stay up'),
  });
  started.push(() => postgres.stop());
  return postgres.url;
}

/** A bucket that is not there or refuses access is said at once; one that does not answer may come yet. */
async function assertReachable(store: SegmentStore, logger: Logger): Promise<void> {
  try {
    await store.probe();
  } catch (error) {
    if (error instanceof RecreditError && error.details.isTransient === false) {
      throw new RecreditError('config.invalid', `RECREDIT_SEGMENTS: ${error.message}`, {}, { cause: error });
    }
    logger.warn({ err: error }, 'the segment store cannot be written');
  }
}

async function makeFirstKey(home: string, everything: Confined): Promise<string | null> {
  await ensureProject(everything, FIRST_PROJECT);
  const first = await createFirstKey(everything);
  if (!first) return null;
  await writeFirstKey(home, first.text);
  return first.text;
}

async function isKnown(authenticator: Authenticator, key: string): Promise<boolean> {
  return authenticator.authenticate(`Bearer ${key}`).then(
    () => true,
    () => false,
  );
}

/** Who may start a platform on a database may do everything there; the key ends with the platform. */
async function temporaryKey(everything: Confined, started: (() => Promise<unknown>)[]): Promise<string> {
  const { key, text } = await createKey(everything, { projectId: null, name: 'embedded command', roles: ['admin'] });
  started.push(() => revokeKey(everything, key.id));
  return text;
}

async function listening<Api>({ host, port }: Config, start: () => Promise<Api>): Promise<Api> {
  try {
    return await start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code && REFUSALS[code];
    if (!why) throw error;
    throw new RecreditError('config.invalid', why(host, port), { errno: code }, { cause: error });
  }
}

const REFUSALS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_, port) =>
    `port ${port} is taken, perhaps by another Recredit: stop that, or set RECREDIT_PORT (0 takes any free one)`,
  EACCES: (_, port) => `port ${port} may not be opened by this user: set RECREDIT_PORT to one above 1023`,
  EADDRNOTAVAIL: (host) => `RECREDIT_HOST: ${host} is no address of this machine`,
  ENOTFOUND: (host) => `RECREDIT_HOST: ${host} is no address of this machine`,
};

/** Whether a platform could not be started because its port is somebody else's. */
export function isPortTaken(error: unknown): boolean {
  return error instanceof RecreditError && error.details.errno === 'EADDRINUSE';
}
