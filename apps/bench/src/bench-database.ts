import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMigrations, startEmbeddedPostgres } from '#lib/storage';
import { MIGRATIONS } from '#migrations';

/** A database as the platform has it, fsync included, for as long as `work` takes. */
export async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
  const server = await startEmbeddedPostgres({ home, port: 0 });
  try {
    await runMigrations(server.url, MIGRATIONS);
    return await work(server.url);
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}
