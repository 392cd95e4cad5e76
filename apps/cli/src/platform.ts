import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApi } from '#app/api';
import { Authenticator, confine, createFirstKey, ensureProject } from '#lib/access';
import { EventLog } from '#lib/event-log';
import { Queue } from '#lib/queue';
import { openPool, openSegmentStore, runMigrations, startEmbeddedPostgres } from '#lib/storage';
import { MIGRATIONS } from '#migrations';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { startWorkerProcess } from './worker-process.js';

/** The first admin key lies here, for whoever may read the home. */
export const FIRST_KEY_FILE = 'first-key';

/** The API, its workers and, unless another one is named, its own Postgres. */
export interface Platform {
  readonly url: string;
  /** the first admin key, when this start made it */
  readonly firstKey: string | null;
  stop(): Promise<void>;
}

export interface PlatformOptions {
  readonly workers: number;
  readonly logger: Logger;
}

const WORKER = new URL('../../worker/src/main.js', import.meta.url);
/** A project to begin with, so that nobody has to make one. */
const FIRST_PROJECT = 'default';

/** Starts the whole platform. What was started is stopped again when a later part fails. */
export async function startPlatform(config: Config, { workers, logger }: PlatformOptions): Promise<Platform> {
  const started: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of started.splice(0).reverse()) {
      await end().catch((error: unknown) => logger.error({ err: error }, 'a part did not stop cleanly'));
    }
  };
  try {
    await mkdir(config.home, { recursive: true, mode: 0o700 });
    const databaseUrl = config.databaseUrl ?? (await startDatabase(config.home, started, logger));
    await runMigrations(databaseUrl, MIGRATIONS);
    const pool = openPool(databaseUrl, { role: 'recredit_app', size: 10, applicationName: 'recredit api' });
    const platform = openPool(databaseUrl, {
      role: 'recredit_app',
      projects: '*',
      size: 10,
      applicationName: 'recredit api',
    });
    started.push(() => Promise.all([pool.end(), platform.end()]));
    const store = await openSegmentStore(config.segments);
    const queue = new Queue(databaseUrl, { onError: (error) => logger.warn({ err: error }, 'the queue met an error') });
    await queue.start();
    started.push(() => queue.stop());
    const log = new EventLog(platform);
    started.push(() => log.close());
    const authenticator = new Authenticator(pool);
    const firstKey = await makeFirstKey(config.home, pool);
    const ports = { pool, platform, log, queue, store, authenticator };
    const api = await startApi(ports, { host: config.host, port: config.port, logger });
    started.push(() => api.close());

    const settings = { databaseUrl, segments: config.segments };
    const processes = Array.from({ length: workers }, () => startWorkerProcess(WORKER, settings, logger));
    started.push(() => Promise.all(processes.map((process) => process.stop())));
    await Promise.all(processes.map(({ ready }) => ready));
    return { url: api.url, firstKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDatabase(home: string, started: (() => Promise<unknown>)[], logger: Logger): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    home,
    onFailure: (error) => logger.fatal({ err: error }, 'the embedded Postgres could not be kept running'),
  });
  started.push(() => postgres.stop());
  return postgres.url;
}

async function makeFirstKey(home: string, pool: ReturnType<typeof openPool>): Promise<string | null> {
  const everything = confine(pool, '*');
  await ensureProject(everything, FIRST_PROJECT);
  const first = await createFirstKey(everything);
  if (!first) return null;
  const file = join(home, FIRST_KEY_FILE);
  await writeFile(file, `${first.text}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return first.text;
}
