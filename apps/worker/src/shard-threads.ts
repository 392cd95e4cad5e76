import { Piscina } from 'piscina';
import type { ThreadData } from './shard-thread.js';

/** Shards that a thread is given at once: while one is computed, the files of the other are read or written. */
export const SHARDS_PER_THREAD = 2;

/** V8 would let the young generation of each thread grow beyond 100 MB, and gains nothing by it. */
const YOUNG_MB = 48;

/** Threads that compute: started when there is something to do, ended when there was nothing for a while. */
export function shardThreads(maxThreads: number, data: ThreadData): Piscina {
  return new Piscina({
    filename: new URL('./shard-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads,
    concurrentTasksPerWorker: SHARDS_PER_THREAD,
    idleTimeout: 30_000,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    workerData: data,
  });
}
