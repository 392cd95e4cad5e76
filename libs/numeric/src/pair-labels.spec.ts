import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstRows, pairLabels } from './pair-labels.js';

it('know the first row of each label', () => {
  const pairs = pairLabels(Int32Array.of(-1, 4, 4, 2, 4), Int32Array.of(0, 1, 1, 1, 0));
  expect([...firstRows(pairs)]).toEqual([1, 3, 4]);
});

describe('pairLabels', () => {
  it('labels by first appearance', () => {
    const { labels, count } = pairLabels(Int32Array.of(0, 0, 1, 0, 1), Int32Array.of(5, 6, 5, 5, 6));
    expect([...labels]).toEqual([0, 1, 2, 0, 3]);
    expect(count).toBe(4);
  });

  it('labels no row that has no key', () => {
    expect([...pairLabels(Int32Array.of(-1, 0, 0), Int32Array.of(1, -1, 1)).labels]).toEqual([-1, -1, 0]);
    expect(pairLabels(new Int32Array(0), new Int32Array(0)).count).toBe(0);
  });

  it.each([
    ['small keys', 12],
    ['keys of any size', 2 ** 31 - 1],
  ])('joins equal pairs and no others: %s', (_, max) => {
    const pair = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max }));
    fc.assert(
      fc.property(fc.array(fc.oneof(pair, fc.constant<[number, number]>([3, 7]))), (pairs) => {
        const left = Int32Array.from(pairs, ([a]) => a);
        const right = Int32Array.from(pairs, ([, b]) => b);
        const seen = new Map<string, number>();
        for (const pair of pairs.map(String)) if (!seen.has(pair)) seen.set(pair, seen.size);
        expect([...pairLabels(left, right).labels]).toEqual(pairs.map((pair) => seen.get(String(pair))));
      }),
    );
  });
});
