import { expect, it } from 'vitest';
import { Rests } from './rests.js';

it('a run rests twice as long after each failure, half a minute at most, until it succeeds', () => {
  const rests = new Rests();
  expect(rests.isResting('a', 0)).toBe(false);
  const lengths = Array.from({ length: 9 }, () => {
    rests.begin('a', 0);
    return [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000].find((ms) => !rests.isResting('a', ms));
  });
  expect(lengths).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(rests.isResting('b', 0)).toBe(false);
  rests.end('a');
  expect(rests.isResting('a', 0)).toBe(false);
});
