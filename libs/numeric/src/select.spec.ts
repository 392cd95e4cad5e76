import { expect, it } from 'vitest';
import { quantiles } from './quantile.js';
import { seededRandom } from './random.js';
import { selectNth, selectQuantiles } from './select.js';

it('finds the value that a sort would put there, and splits the rest around it', () => {
  const values = Float64Array.of(5, 1, 4, 1, 3);
  expect(selectNth(values, 2)).toBe(3);
  expect(values.slice(0, 2).sort()).toEqual(Float64Array.of(1, 1));
  expect(values.slice(3).sort()).toEqual(Float64Array.of(4, 5));
});

it('agrees with a sort on ties, ordered and reversed rows, and goes on from a place that is known', () => {
  const random = seededRandom('select');
  const made = [
    Float64Array.from({ length: 200 }, () => random.integer(5)),
    Float64Array.from({ length: 101 }, (_, i) => i),
    Float64Array.from({ length: 101 }, (_, i) => -i),
    Float32Array.from({ length: 150 }, () => random.normal()),
  ];
  for (const values of made) {
    const sorted = values.slice().sort();
    for (const n of [0, 1, 50, values.length - 1]) expect(selectNth(values.slice(), n)).toBe(sorted[n]);
    const reordered = values.slice();
    selectNth(reordered, 20);
    expect(selectNth(reordered, 70, 20)).toBe(sorted[70]);
  }
});

it('gives the quantiles of a sort, in the order in which they were asked for', () => {
  const random = seededRandom('quantiles');
  const values = Float64Array.from({ length: 333 }, () => random.normal());
  const qs = [0.9, 0, 0.5, 1, 0.8, 0.5];
  expect(selectQuantiles(values.slice(), qs)).toEqual(quantiles(values, qs));
  expect(selectQuantiles(Float64Array.of(7), [0.2])).toEqual([7]);
  expect(selectQuantiles(new Float64Array(0), [0.5])).toEqual([NaN]);
});
