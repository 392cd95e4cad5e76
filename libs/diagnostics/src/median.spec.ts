import { expect, it } from 'vitest';
import { median, medianOf } from './median.js';

it('is the one in the middle, or the mean of the two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median(Array.from({ length: 101 }, (_, i) => (i * 7) % 101))).toBe(50);
});

it('leaves what is outside of the range where it was', () => {
  const values = Float64Array.of(9, 3, 1, 2, 8);
  expect(medianOf(values, 1, 4)).toBe(2);
  expect([...values]).toEqual([9, 1, 2, 3, 8]);
});
