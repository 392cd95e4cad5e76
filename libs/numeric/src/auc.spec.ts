import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auc, aucOfSides, sortedRows } from './auc.js';

const column = (...values: number[]) => Float64Array.from(values);
const times = (count: number, value: number) => Array.from({ length: count }, () => value);

describe('auc', () => {
  it.each([
    ['a perfect order', [1, 2, 3, 4], [-1, -1, 1, 1], 1],
    ['the reverse', [4, 3, 2, 1], [-1, -1, 1, 1], 0],
    // positives 2, 4 against negatives 1, 3: 2 > 1, 4 > 1, 4 > 3 of four
    ['three pairs of four', [1, 2, 3, 4], [-1, 1, -1, 1], 0.75],
    ['all tied', [5, 5, 5], [-1, 1, 1], 0.5],
    // 2 > 20 of them, either 3 > 20 and ties with 20
    ['many of few scores', [...times(20, 1), ...times(20, 3), 2, 3, 3], [...times(40, -1), 1, 1, 1], 80 / 120],
    ['label 0 and what says nothing left out', [9, 1, NaN, 2, 3], [0, -1, 1, 1, NaN], 1],
  ])('%s', (_, score, label, expected) => expect(auc(column(...score), column(...label))).toBe(expected));

  it.each([
    ['no positive', [1, 2], [-1, 0]],
    ['no negative', [1, 2], [1, 1]],
    ['no rows', [], []],
  ])('NaN: %s', (_, score, label) => expect(auc(column(...score), column(...label))).toBeNaN());

  it('agrees with looking at every pair', () => {
    const few = fc.constantFrom(NaN, -1.5, 0, 0.25, 2);
    const near = fc.integer({ min: 0, max: 60 }).map((k) => 0.25 + k * 1e-9); // all in one bucket beside -1.5 and 2
    const any = fc.double({ noDefaultInfinity: true });
    const score = fc.constantFrom(few, near, fc.oneof(few, near), fc.oneof(few, near, any));
    const rows = score.chain((one) =>
      fc.array(fc.tuple(one, fc.constantFrom(NaN, -1, 0, 1)), { maxLength: 150, size: 'max' }),
    );
    fc.assert(
      fc.property(rows, (list) => {
        const said = list.filter(([score, label]) => !Number.isNaN(score + label));
        const ofSign = (sign: number) => said.filter(([, label]) => label === sign).map(([score]) => score);
        let wins = 0;
        for (const p of ofSign(1)) for (const q of ofSign(-1)) wins += p > q ? 1 : p === q ? 0.5 : 0;
        const found = auc(column(...list.map(([score]) => score)), column(...list.map(([, label]) => label)));
        expect(found).toBe(wins / (ofSign(1).length * ofSign(-1).length));
      }),
    );
  });
});

it('asks nothing of the rows that a longer call before it had', () => {
  const spread = column(...times(1000, 0).map((_, i) => i));
  const labels = (of: Float64Array) => of.map((value) => (value % 2 === 0 ? 1 : -1));
  expect(auc(spread, labels(spread))).toBe(0.499);
  expect(auc(column(3, 1, 2), column(1, -1, 1))).toBe(1);
  expect(auc(column(1), column(1))).toBeNaN();
});

it('tells sides apart or takes them so', () => {
  expect(aucOfSides(column(2, 4), column(1, 3))).toBe(0.75);
  // 3 to 5 scores of one bucket: -9 and 9 leave the others to the middle
  for (const near of [3, 4, 5]) {
    const negatives = column(-9, 9, ...times(near, 0).map((_, i) => i / 10));
    expect(aucOfSides(column(0.1), negatives)).toBe(2.5 / (near + 2));
  }
});

describe('sortedRows', () => {
  it('leaves out what says nothing and marks where ties end', () => {
    const { order, endsTie } = sortedRows(column(3, NaN, 1, 3, 2, -Infinity));
    expect([...order]).toEqual([2, 4, 0, 3]);
    expect([...endsTie]).toEqual([1, 1, 0, 1]);
  });
});
