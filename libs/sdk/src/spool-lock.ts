import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAlive, thisProcess, type ProcessIdentity } from './process-identity.js';

/** A holder on another machine that has not been heard of for this long is taken for dead. */
const LEASE_MS = 10 * 60_000;

/** One process's right to a producer's folder. Its number is the producer's epoch. */
export interface SpoolLock {
  readonly epoch: number;
  /** Says that the holder lives, to machines that cannot see its pid. false: somebody else took over. */
  renew(): boolean;
  release(): void;
}

export type LockAttempt =
  { readonly lock: SpoolLock; readonly holder?: never } | { readonly lock: null; readonly holder: ProcessIdentity };

type LockContent = ProcessIdentity & { readonly released?: boolean };

/**
 * Takes a folder, unless a living process has it. Locks are numbered: taking over means creating the next number,
 * which the file system lets one process do, and the highest one is never deleted.
 */
export function takeLock(dir: string, now = Date.now()): LockAttempt {
  for (;;) {
    const last = lastLock(dir);
    if (last >= 0) {
      const holder = holderOf(dir, last, now);
      if (holder === 'gone') continue;
      if (holder) return { lock: null, holder };
    }
    if (create(dir, last + 1)) return { lock: lockOf(dir, last + 1) };
  }
}

function create(dir: string, epoch: number): boolean {
  const draft = join(dir, `${randomUUID()}.draft`);
  writeFileSync(draft, JSON.stringify(thisProcess()));
  try {
    linkSync(draft, lockFile(dir, epoch));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  // Who listed the folder long ago may create a number that others have passed meanwhile.
  const last = lastLock(dir);
  if (last > epoch) rmSync(lockFile(dir, epoch), { force: true });
  else for (const older of locks(dir)) if (older < epoch) rmSync(lockFile(dir, older), { force: true });
  return last === epoch;
}

function lockOf(dir: string, epoch: number): SpoolLock {
  const path = lockFile(dir, epoch);
  const isMine = () => existsSync(path) && lastLock(dir) === epoch;
  return {
    epoch,
    renew() {
      try {
        if (!isMine()) return false;
        const now = new Date();
        utimesSync(path, now, now);
        return true;
      } catch {
        return false;
      }
    },
    release() {
      if (!existsSync(path)) return;
      const draft = `${path}.draft`;
      try {
        writeFileSync(draft, JSON.stringify({ ...thisProcess(), released: true } satisfies LockContent));
        renameSync(draft, path);
      } catch {
        // A full disk still lets go of bytes: a lock that names nobody is nobody's.
        rmSync(draft, { force: true });
        truncateSync(path, 0);
      }
    },
  };
}

/** Who holds a lock; null: nobody any more; 'gone': it has been replaced meanwhile. */
function holderOf(dir: string, epoch: number, now: number): ProcessIdentity | 'gone' | null {
  const path = lockFile(dir, epoch);
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as LockContent;
    if (content.released) return null;
    const alive = isAlive(content) ?? now - statSync(path).mtimeMs < LEASE_MS;
    return alive ? content : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
    return null;
  }
}

function lastLock(dir: string): number {
  return Math.max(-1, ...locks(dir));
}

function locks(dir: string): number[] {
  return readdirSync(dir).flatMap((name) => {
    const number = /^lock\.(\d+)$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

function lockFile(dir: string, epoch: number): string {
  return join(dir, `lock.${epoch}`);
}
