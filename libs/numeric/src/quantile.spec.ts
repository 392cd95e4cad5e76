import { expect, it } from 'vitest';
import { quantileOfSorted, quantiles } from './quantile.js';

it('interpolates between the two nearest values, as numpy does', () => {
  // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1])
  const [least, quarter, median, most, greatest] = quantiles(Float64Array.of(8, 1, 4, 2), [0, 0.25, 0.5, 0.9, 1]);
  expect([least, quarter, median, greatest]).toEqual([1, 1.75, 3, 8]);
  expect(most).toBeCloseTo(6.8, 12);
});

it('leaves out what says nothing', () => {
  expect(quantiles(Float64Array.of(NaN, 3, NaN, 1), [0.5])).toEqual([2]);
});

it('answers for one value and for none', () => {
  expect(quantileOfSorted(Float64Array.of(5), 0.3)).toBe(5);
  expect(quantileOfSorted(new Float64Array(0), 0.3)).toBeNaN();
});
