import { errorRecord, masked } from '#lib/kernel';
import { pino } from 'pino';
import { startWorker, type Worker, type WorkerSettings } from './worker.js';

/**
 * A worker as a process of its own, forked by `recredit serve`. Its settings come as the first message, so that the
 * database's password is in no argument and no environment; when the parent is gone it stops.
 */
const level = process.env.RECREDIT_LOG_LEVEL || 'info';
const serializers = { err: (error: unknown) => errorRecord(error), reason: masked };
const log = pino.destination({ fd: 2, sync: true, maxLength: 1024 * 1024 });
log.on('error', () => {}); // a disk that is full costs lines of the log, not the worker
const logger = pino({ name: 'recredit-worker', level, serializers }, log);
let worker: Promise<Worker> | null = null;

process.once('message', (settings) => {
  worker = startWorker(settings as WorkerSettings, logger);
  worker.then(
    () => process.send?.('ready'),
    (error: unknown) => {
      logger.fatal({ err: error }, 'the worker could not start');
      process.exit(1);
    },
  );
});

const stop = async () => {
  process.removeAllListeners('disconnect');
  const started = await worker?.catch(() => null);
  await started?.stop().catch((error: unknown) => logger.error({ err: error }, 'the worker did not stop cleanly'));
  process.exit(0);
};

for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => void stop());
// a terminal sends it to the whole group; the parent decides
process.on('SIGINT', () => {});
