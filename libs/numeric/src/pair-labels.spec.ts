import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatKeys } from './offsets.js';
import { firstRows, pairLabels, repeatedPairLabels } from './pair-labels.js';

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

it.each([
  ['small keys', 12, false],
  ['keys of any size', 2 ** 31 - 1, false],
  ['small keys, rows of one key together', 12, true],
])('labels keys that stand on the children of their rows as it labels a column of them: %s', (_, max, isSorted) => {
  const row = fc.tuple(fc.integer({ min: -1, max: 5 }), fc.array(fc.integer({ min: -1, max }), { maxLength: 9 }));
  fc.assert(
    fc.property(fc.array(row), (given) => {
      const rows = isSorted ? given.toSorted(([a], [b]) => a - b) : given;
      const keys = Int32Array.from(rows, ([key]) => key);
      const right = Int32Array.from(rows.flatMap(([, children]) => children));
      const offsets = Int32Array.of(0, ...rows.map((_row, i) => rows.slice(0, i + 1).flatMap(([, c]) => c).length));
      expect(repeatedPairLabels(keys, offsets, right)).toEqual(pairLabels(repeatKeys(keys, offsets), right));
    }),
  );
});

it('know the first row of each label', () => {
  const pairs = pairLabels(Int32Array.of(-1, 4, 4, 2, 4), Int32Array.of(0, 1, 1, 1, 0));
  expect([...firstRows(pairs)]).toEqual([1, 3, 4]);
});
