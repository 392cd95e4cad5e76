import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { clamp } from './numbers.js';
import { rowsWhere, topRows } from './top-rows.js';

const rows = (length: number) => Int32Array.from({ length }, (_, i) => i);

it('takes the highest scores, in the order of the rows', () => {
  expect([...topRows(Float64Array.of(3, 9, 1, 7), rows(4), 2)]).toEqual([1, 3]);
});

it('takes the earlier of equals at the edge', () => {
  expect([...topRows(Float64Array.of(5, 2, 5, 9, 5), rows(5), 3)]).toEqual([0, 2, 3]);
});

it('looks at the candidates alone', () => {
  expect([...topRows(Float64Array.of(9, 1, 8, 2), Int32Array.of(1, 3), 1)]).toEqual([3]);
});

it('takes all there are, or none', () => {
  expect([...topRows(Float64Array.of(1, 2), rows(2), 5)]).toEqual([0, 1]);
  expect([...topRows(Float64Array.of(1, 2), rows(2), 0)]).toEqual([]);
  expect([...topRows(new Float64Array(0), rows(0), 3)]).toEqual([]);
});

it('is a stable sort, cut', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -3, max: 3 })), fc.nat({ max: 12 }), (scores, k) => {
      const order = scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a]);
      expect([...topRows(Float64Array.from(scores), rows(scores.length), k)]).toEqual(
        order.slice(0, k).sort((a, b) => a - b),
      );
    }),
  );
});

it('finds the rows of which something holds', () => {
  expect([...rowsWhere(6, (row) => row % 2 === 1)]).toEqual([1, 3, 5]);
  expect([...rowsWhere(0, () => true)]).toEqual([]);
});

it('keeps a number between its bounds', () => {
  expect([clamp(5, 0, 2), clamp(-5, 0, 2), clamp(1, 0, 2)]).toEqual([2, 0, 1]);
});
