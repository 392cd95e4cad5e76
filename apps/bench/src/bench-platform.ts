import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withDatabase } from './bench-database.js';

const RECREDIT = fileURLToPath(new URL('../../cli/src/main.js', import.meta.url));

export interface BenchPlatform {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** as the database's owner */
  databaseUrl(): Promise<string>;
}

/** Only what takes requests, in a process of its own: no worker shares the machine with it. */
export function withApiAlone<T>(work: (platform: BenchPlatform) => Promise<T>): Promise<T> {
  return withDatabase(async (databaseUrl) => {
    const api = fork(new URL('./api-child.js', import.meta.url), [databaseUrl]);
    const ended = once(api, 'exit');
    try {
      const early = ended.then(() => Promise.reject(new Error('the API ended before it listened')));
      const [{ url, key }] = (await Promise.race([once(api, 'message'), early])) as [{ url: string; key: string }];
      return await work({ url, key, pid: api.pid ?? 0, databaseUrl: async () => databaseUrl });
    } finally {
      if (api.connected) api.disconnect();
      await ended;
    }
  });
}

/** A platform in a process of its own, on a home of its own, for as long as `work` takes. */
export async function withPlatform<T>(work: (platform: BenchPlatform) => Promise<T>, workers = 1): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
  const env = { PATH: process.env.PATH, RECREDIT_HOME: home, RECREDIT_PORT: '0' };
  const args = [RECREDIT, 'serve', '--workers', String(workers)];
  const platform = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(platform, 'exit');
  const databaseUrl = async () => {
    const password = (await readFile(join(home, 'database-password'), 'utf8')).trim();
    const [, , , port] = (await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    return `postgres://recredit:${password}@127.0.0.1:${port}/recredit`;
  };
  try {
    const [url, key] = await Promise.all(['url', 'first-key'].map((file) => whenWritten(join(home, file), platform)));
    platform.stdout.resume();
    return await work({ url, key, pid: platform.pid ?? 0, databaseUrl });
  } finally {
    platform.kill('SIGTERM');
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

async function whenWritten(file: string, platform: ChildProcess): Promise<string> {
  for (const end = Date.now() + 60_000; Date.now() < end && platform.exitCode === null; await sleep(50)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return text.trim();
  }
  throw new Error('the platform did not start');
}
