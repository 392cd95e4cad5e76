import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPool, runMigrations, startEmbeddedPostgres } from '#lib/storage';
import type { TestProject } from 'vitest/node';
import { MIGRATIONS } from '../../migrations/index.js';
import { databaseUrl, TEMPLATE } from './database-url.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** the server, as owner, at its `postgres` database */
    postgresUrl: string;
  }
}

let stop: () => Promise<void>;

/** One server for all specs, with one migrated database that they clone. */
export async function setup(project: TestProject): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'recredit-test-'));
  const server = await startEmbeddedPostgres({ home, port: 0, durable: false });
  stop = async () => {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  const url = databaseUrl(server.url, 'postgres');
  const admin = openPool(url, { size: 1 });
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await runMigrations(databaseUrl(url, TEMPLATE), MIGRATIONS);
  project.provide('postgresUrl', url);
}

export async function teardown(): Promise<void> {
  await stop?.();
}
