import { Piscina } from 'piscina';
import type { ThreadData } from './shard-thread.js';

/** Shards that a thread is given at once: while one is computed, the files of the other are read or written. */
export const SHARDS_PER_THREAD = 2;

/** Threads that compute: started when there is something to do, ended when there was nothing for a while. */
export function shardThreads(maxThreads: number, data: ThreadData): Piscina {
  return new Piscina({
    filename: new URL('./shard-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads,
    concurrentTasksPerWorker: SHARDS_PER_THREAD,
    idleTimeout: 30_000,
    workerData: data,
  });
}
