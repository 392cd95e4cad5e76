import { expect, it } from 'vitest';
import { takeGroup } from './take-group.js';

const requests = (...sizes: number[]) => sizes.map((size) => ({ batch: { payload: new Uint8Array(size) } }));
const sizes = (taken: ReturnType<typeof requests>) => taken.map((request) => request.batch.payload.length);

it.each([
  { waiting: [], taken: [], rest: [] },
  { waiting: [1, 2, 3], taken: [1, 2, 3], rest: [] },
  { waiting: [1, 2, 3, 4], taken: [1, 2, 3], rest: [4] },
  { waiting: [6, 4, 1], taken: [6, 4], rest: [1] },
  { waiting: [50, 1], taken: [50], rest: [1] },
])('takes $taken of $waiting, bounded by three batches and ten bytes', ({ waiting, taken, rest }) => {
  const queue = requests(...waiting);
  expect(sizes(takeGroup(queue, { maxBatches: 3, maxBytes: 10 }))).toEqual(taken);
  expect(sizes(queue)).toEqual(rest);
});
