import type { Run } from './run.js';
import { startRun, type RunOptions } from './start-run.js';

export interface Offline {
  /** As `startRun`, but nothing is ever sent: `recredit sync` delivers the folder later, from wherever it lies then. */
  startRun(options: Omit<RunOptions, 'url' | 'apiKey' | 'spool' | 'offline'>): Promise<Run>;
}

/** Records into a folder, on a machine that reaches no server. */
export function offline(dir: string): Offline {
  return { startRun: (options) => startRun({ ...options, spool: dir, offline: true }) };
}
