import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseUrl, passwordFile } from './embedded-postgres.js';

/**
 * Where the embedded Postgres of a home listens, for a second process of the same user while a platform runs there; null
 * when none runs.
 */
export async function runningPostgres(home: string): Promise<string | null> {
  const pidFile = await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  // as pg_ctl reads it: process id, data folder, start time, port, ..., state in line 8
  const lines = pidFile.split('\n');
  if (lines[7]?.trim() !== 'ready' || !isAlive(Number(lines[0]))) return null;
  const password = await readFile(passwordFile(home), 'utf8').catch(() => null);
  return password && databaseUrl(password.trim(), Number(lines[3]));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
