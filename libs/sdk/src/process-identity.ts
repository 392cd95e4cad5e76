import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Which process this is, so that another one can tell whether it still lives. */
export interface ProcessIdentity {
  /** Where its pid means something: the machine, its boot and, in a container, the pid namespace. */
  readonly place: string;
  readonly pid: number;
  /** When it started, in the kernel's ticks: pids come back, in containers at once. null where the system does not say. */
  readonly started: string | null;
}

export function thisProcess(): ProcessIdentity {
  return { place: thisPlace(), pid: process.pid, started: startOf(process.pid) };
}

/** false: certainly gone. null: it ran elsewhere, nobody here can say. */
export function isAlive({ place, pid, started }: ProcessIdentity): boolean | null {
  if (place !== thisPlace()) return null;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === null || startOf(pid) === null || startOf(pid) === started;
}

function thisPlace(): string {
  const bootId = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const pidNamespace = attempt(() => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), bootId, pidNamespace].filter((part) => part !== null).join(' ');
}

function startOf(pid: number): string | null {
  // The name in parentheses may hold spaces; the 22nd field is the 20th after it.
  return attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]);
}

function attempt(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
