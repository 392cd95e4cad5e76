import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, RecreditError } from '#lib/kernel';
import { Client } from 'pg';
import type { MigrationInterface } from 'typeorm';
import { dataSource } from './data-source.js';
import type { Queryable } from './pool.js';

export type Migration = new () => MigrationInterface;

/** Any number that nobody else locks; the same in every version of the platform. */
const LOCK = 7_265_225_600;

/**
 * Brings the database up to the given migrations, each in its own transaction. Starters that come at the same time wait
 * for the first; a program older than the database refuses.
 *
 * @returns the names of those that were run
 */
export async function runMigrations(url: string, migrations: readonly Migration[]): Promise<string[]> {
  const client = new Client({ connectionString: url, application_name: 'recredit migrations' });
  client.on('error', () => {});
  await client.connect();
  try {
    // polled: a session that waits inside pg_advisory_lock holds a snapshot, which `create index concurrently` waits for
    while (!(await client.query('select pg_try_advisory_lock($1) as mine', [LOCK])).rows[0].mine) await sleep(50);
    await refuseNewer(client, migrations);
    const source = await (await dataSource(url, migrations)).initialize();
    try {
      const run = await source.runMigrations({ transaction: 'each' });
      return run.map(({ name }) => name);
    } catch (error) {
      throw migrationFailed(error);
    } finally {
      await source.destroy();
    }
  } finally {
    await client.end(); // and with it the lock
  }
}

/** Which of the given migrations the database lacks, and which it has beyond them. */
export async function migrationsBetween(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<{ missing: string[]; newer: string[] }> {
  if (migrations.length === 0) return { missing: [], newer: [] };
  const { rows } = await db.query('select name from schema_migration order by timestamp');
  const run = new Set<string>(rows.map(({ name }) => name));
  const known = new Set(migrations.map(({ name }) => name));
  return { missing: [...known].filter((name) => !run.has(name)), newer: [...run].filter((name) => !known.has(name)) };
}

/** Postgres says in the hint what the operator can do. */
function migrationFailed(cause: unknown): RecreditError {
  const { hint } = cause as { hint?: string };
  return new RecreditError(
    'database.unavailable',
    `the database could not be migrated: ${messageOf(cause)}${hint ? ` (${hint})` : ''}`,
    {},
    { cause },
  );
}

async function refuseNewer(client: Client, migrations: readonly Migration[]): Promise<void> {
  const { rows } = await client.query(`select to_regclass('schema_migration') is not null as made`);
  if (!rows[0].made) return;
  const known = migrations.map((migration) => migration.name);
  const newer = await client.query('select name from schema_migration where name <> all($1) order by timestamp', [
    known,
  ]);
  if (newer.rowCount === 0) return;
  const names = newer.rows.map(({ name }) => name).join(', ');
  throw new RecreditError(
    'database.unavailable',
    `the database has been migrated by a newer Recredit (${names}): update this one, it must not write there`,
  );
}
