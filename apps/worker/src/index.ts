export { probedDevices } from './probed-devices.js';
export type { ThreadTask } from './shard-thread.js';
export { SHARDS_PER_THREAD, shardThreads } from './shard-threads.js';
export { startWorker, type Worker, type WorkerSettings } from './worker.js';
