import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8 weigh buffers together with its heap. By itself it holds them against a bound of their own, some 64 MB, and
 * marks the whole heap each time: 60 ms of processor time of an API, at every tenth trajectory that is read, since a
 * page of turns lies in batches of half a megabyte. The process keeps more garbage for it.
 */
export function weighBuffersWithHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
