import { expect, it } from 'vitest';
import type { Numbers } from './numbers.js';
import { quantiles } from './quantile.js';
import { seededRandom } from './random.js';
import { selectPair, selectQuantiles } from './select.js';

const MANY = 70_000;
const random = seededRandom('select');
const of = (length: number, draw: (row: number) => number) => Float64Array.from({ length }, (_, row) => draw(row));

it('finds what a sort would put there and next, and leaves the rows as they are', () => {
  const values = Float64Array.of(5, 1, 4, 1, 3);
  expect([0, 1, 2, 3, 4, 5].map((n) => selectPair(values, n))).toEqual([
    [1, 1],
    [1, 3],
    [3, 4],
    [4, 5],
    [5, NaN],
    [NaN, NaN],
  ]);
  expect(values).toEqual(Float64Array.of(5, 1, 4, 1, 3));
});

it.each<[string, Numbers]>([
  ['few values, many ties', of(200, () => random.integer(5))],
  ['many values', of(MANY, () => random.normal())],
  ['many in float32', Float32Array.from({ length: MANY }, () => random.normal())],
  ['many in order', of(MANY, (row) => row)],
  ['many in reverse', of(MANY, (row) => -row)],
  ['many equal ones', of(MANY, () => 7)],
  // a regular sample of 2^16 rows takes every fourth
  ['many of which the sample sees the largest', of(65_536, (row) => (row % 4 === 2 ? row : -row - 1))],
  ['many of which the sample sees the smallest', of(65_536, (row) => (row % 4 === 2 ? -row : row + 1))],
  ['a long tail', of(MANY, () => Math.exp(5 * random.normal()))],
])('agrees with a sort: %s', (_, values) => {
  const sorted = values.slice().sort();
  for (const n of [0, 1, 57, values.length >> 1, values.length - 2]) {
    expect(selectPair(values, n)).toEqual([sorted[n], sorted[n + 1]]);
  }
});

it('gives the quantiles of a sort, in the order in which they were asked for', () => {
  for (const length of [1, 2, 333, MANY]) {
    const values = of(length, () => random.normal());
    const qs = [0.9, 0, 0.5, 1, 0.8, 0.5];
    expect(selectQuantiles(values, qs)).toEqual(quantiles(values, qs));
  }
  expect(selectQuantiles(new Float64Array(0), [0.5])).toEqual([NaN]);
});
