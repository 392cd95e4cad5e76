import { expect, it } from 'vitest';
import { scratchDoubles, scratchInts } from './scratch.js';

it.each([
  ['integers', scratchInts],
  ['numbers', scratchDoubles],
])('gives the same memory at each call: %s', (_, scratch: () => (length: number) => Int32Array | Float64Array) => {
  const [mine, other] = [scratch(), scratch()];
  const first = mine(5).fill(7);
  expect([...mine(3)]).toEqual([7, 7, 7]);
  expect([...other(3)]).toEqual([0, 0, 0]);
  expect(mine(5).buffer).toBe(first.buffer);
  expect(mine(0)).toHaveLength(0);
  // longer than all before: whatever lies there, there is enough of it
  expect(mine(100)).toHaveLength(100);
  // what takes much memory is not kept
  expect(mine(2 ** 16).buffer).toBe(mine(1).buffer);
  expect(mine(2 ** 16 + 1).buffer).not.toBe(mine(2 ** 16 + 1).buffer);
});
