import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerSettings } from '#app/worker';
import { RecreditError } from '#lib/kernel';
import type { Logger } from 'pino';

const STOP_MS = 15_000;
const MAX_RESTART_DELAY_MS = 10_000;
/** A worker that dies so often before it was ever ready will not come up. */
const STARTS_TRIED = 3;

/** A worker as a child process that is started again when it dies. */
export interface WorkerProcess {
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerParts {
  /** the compiled entry of apps/worker */
  readonly main: URL;
  readonly settings: WorkerSettings;
  readonly logger: Logger;
  /** where its log goes: a file descriptor, or this process's own standard error */
  readonly stderr: number | 'inherit';
}

export function startWorkerProcess({ main, settings, logger, stderr }: WorkerParts): WorkerProcess {
  const ready = Promise.withResolvers<void>();
  let stopping = false;
  let wasReady = false;
  let child: ChildProcess | null = null;
  let deaths = 0;

  const start = () => {
    child = fork(main, { stdio: ['ignore', 'ignore', stderr, 'ipc'] });
    child.on('error', (error) => logger.warn({ err: error }, 'a worker does not answer'));
    child.send(settings);
    child.once('message', () => {
      deaths = 0;
      wasReady = true;
      ready.resolve();
    });
    child.once('exit', (code, signal) => void again(code, signal));
  };
  const again = async (code: number | null, signal: string | null) => {
    if (stopping) return;
    if (++deaths >= STARTS_TRIED && !wasReady) {
      ready.reject(new RecreditError('internal.error', 'a worker does not start; the log in RECREDIT_HOME says why'));
      return;
    }
    const delay = Math.min(125 * 2 ** deaths, MAX_RESTART_DELAY_MS);
    logger.warn({ code, signal, delay }, 'a worker died and is started again');
    await sleep(delay);
    if (!stopping) start();
  };

  start();
  return {
    ready: ready.promise,
    stop: async () => {
      stopping = true;
      ready.promise.catch(() => {}); // nobody waits for it any more
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}
