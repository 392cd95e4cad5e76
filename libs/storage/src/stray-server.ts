import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';

const PATIENCE_MS = 15_000;

/**
 * Stops what an earlier process that was killed has left running on the data folder, and clears a pid file whose number
 * belongs to somebody else by now. Call it only while holding the home's lock: nobody else can be using that server.
 */
export async function stopStrayServer(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0;
  const strays = serversOn(dataDir, pid);
  const started = performance.now();

  // fast shutdown first; its backends alone (the postmaster was killed) leave by themselves, then are told to
  if (strays.includes(pid)) signal(pid, 'SIGINT');
  for (let last = 0; serversOn(dataDir, pid).length > 0; last++) {
    if (last === 300) for (const left of serversOn(dataDir, pid)) signal(left, 'SIGQUIT');
    if (performance.now() - started > PATIENCE_MS) {
      const left = serversOn(dataDir, pid).join(', ');
      throw new RecreditError(
        'config.invalid',
        `an earlier database server (process ${left}) on ${dataDir} does not stop: end it`,
      );
    }
    await sleep(20);
  }
  rmSync(pidFile, { force: true });
}

/** A server's processes have its data folder as working directory; without /proc only the postmaster can be told. */
function serversOn(dataDir: string, pid: number): number[] {
  if (!existsSync('/proc/self/cwd')) return pid > 0 && commandOf(pid).includes(dataDir) ? [pid] : [];
  const folder = realpathSync(dataDir);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => cwdOf(name) === folder && isServer(name))
    .map(Number);
}

function cwdOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** Not a shell that somebody left in that folder, nor a process that has ended and only waits to be collected. */
function isServer(pid: string): boolean {
  try {
    const [, command, state] = readFileSync(`/proc/${pid}/stat`, 'utf8').match(/\((.*)\) (.)/) ?? [];
    return command === 'postgres' && state !== 'Z';
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone in the meantime
  }
}
