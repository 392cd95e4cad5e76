import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BIN = '/usr/lib/postgresql/15/bin';

/** Whether Debian's PostgreSQL 15 is on this machine. */
export const hasDebianPostgres = existsSync(join(BIN, 'postgres'));

/** Debian's PostgreSQL 15 in a folder and on a port of its own, for the length of a spec. */
export async function startDebianPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'recredit-pg15-'));
  const ids = process.getuid?.() === 0 ? serverUser() : null;
  if (ids) chownSync(dataDir, ids.uid, ids.gid);
  const options = { ...ids, cwd: '/', stdio: 'ignore' as const, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  execFileSync(join(BIN, 'initdb'), ['-D', dataDir, '-U', 'admin', '--auth=trust', '-E', 'UTF8', '--no-sync'], options);
  const port = await aFreePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `port=${port}`,
    'fsync=off',
    'max_connections=60',
  ];
  const server = spawn(
    join(BIN, 'postgres'),
    ['-D', dataDir, ...settings.flatMap((setting) => ['-c', setting])],
    options,
  );
  const ended = once(server, 'exit');
  while (!isReady(join(dataDir, 'postmaster.pid'))) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL 15 ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `postgres://admin@127.0.0.1:${port}/postgres`,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(dataDir, { recursive: true });
    },
  };
}

function serverUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function isReady(pidFile: string): boolean {
  return existsSync(pidFile) && /\nready *\n/.test(readFileSync(pidFile, 'utf8'));
}
