import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerSettings } from '#app/worker';
import type { Logger } from 'pino';

const STOP_MS = 15_000;
const MAX_RESTART_DELAY_MS = 10_000;

/** A worker as a child process that is started again when it dies. */
export interface WorkerProcess {
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** @param main the compiled entry of apps/worker */
export function startWorkerProcess(main: URL, settings: WorkerSettings, logger: Logger): WorkerProcess {
  const ready = Promise.withResolvers<void>();
  let stopping = false;
  let child: ChildProcess | null = null;
  let restarts = 0;

  const start = () => {
    child = fork(main, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send(settings);
    child.once('message', () => {
      restarts = 0;
      ready.resolve();
    });
    child.once('exit', (code, signal) => void again(code, signal));
  };
  const again = async (code: number | null, signal: string | null) => {
    if (stopping) return;
    const delay = Math.min(250 * 2 ** restarts++, MAX_RESTART_DELAY_MS);
    logger.warn({ code, signal, delay }, 'a worker died and is started again');
    await sleep(delay);
    if (!stopping) start();
  };

  start();
  return {
    ready: ready.promise,
    stop: async () => {
      stopping = true;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}
