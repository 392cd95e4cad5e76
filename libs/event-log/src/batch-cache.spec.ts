import { expect, it } from 'vitest';
import { BatchCache } from './batch-cache.js';
import type { UnpackedBatch } from './unpack.js';

/** 100 bytes with its lines. */
function batch(firstPosition: number, size = 92): UnpackedBatch {
  return { firstPosition, receivedAt: new Date(0), ndjson: Buffer.alloc(size), lineStarts: Uint32Array.of(0, size) };
}

const here = (cache: BatchCache, runId: string) => cache.batchesOf(runId).map((each) => each.firstPosition);

it('forgets what was not used for longest when it is full', () => {
  const cache = new BatchCache(300);
  for (const first of [0, 10, 20]) cache.set('run', batch(first));
  cache.touch('run', batch(0));
  cache.set('run', batch(30));
  expect(here(cache, 'run')).toEqual([20, 0, 30]);
});

it('keeps runs apart', () => {
  const cache = new BatchCache(300);
  cache.set('a', batch(0));
  cache.set('ba', batch(7));
  expect([here(cache, 'a'), here(cache, 'ba'), here(cache, 'b')]).toEqual([[0], [7], []]);
});

it('counts a batch once that is put in twice, and takes none that is too large', () => {
  const cache = new BatchCache(300);
  for (const first of [0, 0, 0, 10, 20]) cache.set('run', batch(first));
  cache.set('run', batch(30, 1000));
  expect(here(cache, 'run')).toEqual([0, 10, 20]);
});
