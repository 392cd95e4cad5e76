import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Faults are tested where /proc tells which processes there are. */
export const canSeeProcesses = process.platform === 'linux';

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Everything that runs on a home: what has it in its environment, and a database that works in it. */
export function processesOn(home: string): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, state, parent] = /\) (\S) (\d+)/.exec(stat) ?? [];
        const isOn =
          readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`RECREDIT_HOME=${home}`) ||
          readlinkSync(`/proc/${name}/cwd`).startsWith(`${home}/`);
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return isOn && state !== 'Z' ? [{ pid: Number(name), parent: Number(parent), command }] : [];
      } catch {
        return []; // gone in the meantime, or somebody else's
      }
    });
}
