import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { confine, type Confined } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import { openPool, runningPostgres, startEmbeddedPostgres, type Pool } from '#lib/storage';
import type { Config } from './config.js';
import { migrate } from './migrate.js';

/** The database behind a platform, for what no API offers: to check the log itself, and to make its views anew. */
export interface PlatformDatabase {
  /** sees every project */
  readonly pool: Pool;
  readonly everything: Confined;
  /** as its owner, whom nothing holds back */
  readonly owner: Pool;
  readonly url: string;
}

/**
 * Opens the database of RECREDIT_DATABASE_URL, or that of the home: through the platform that runs on it, or else by
 * starting its Postgres for as long as the work lasts.
 *
 * @param create makes the database of a home that has none
 */
export async function withDatabase<Result>(
  config: Config,
  work: (database: PlatformDatabase) => Promise<Result>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Result> {
  const url = config.databaseUrl ?? (await runningPostgres(config.home));
  if (url) return onDatabase(url, work);
  if (!create) await assertDatabase(config.home);
  const postgres = await startEmbeddedPostgres({ home: config.home });
  try {
    return await onDatabase(postgres.url, work);
  } finally {
    await postgres.stop();
  }
}

async function assertDatabase(home: string): Promise<void> {
  await access(join(home, 'postgres', 'PG_VERSION')).catch((cause: unknown) => {
    throw new RecreditError(
      'config.invalid',
      `there is no database in ${home}: set RECREDIT_HOME to a platform's folder, or RECREDIT_DATABASE_URL`,
      {},
      { cause },
    );
  });
}

async function onDatabase<Result>(url: string, work: (database: PlatformDatabase) => Promise<Result>): Promise<Result> {
  await migrate(url);
  const options = { role: 'recredit_app', size: 4, applicationName: 'recredit' } as const;
  const pool = openPool(url, { ...options, projects: '*' });
  const confined = openPool(url, { ...options, size: 1 });
  const owner = openPool(url, { size: 2, applicationName: 'recredit' });
  try {
    return await work({ pool, everything: confine(confined, '*'), owner, url });
  } finally {
    await Promise.all([pool.end(), confined.end(), owner.end()]);
  }
}
