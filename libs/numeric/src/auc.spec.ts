import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auc, sortedRows } from './auc.js';

const column = (...values: number[]) => Float64Array.from(values);

describe('auc', () => {
  it.each([
    ['a perfect order', [1, 2, 3, 4], [-1, -1, 1, 1], 1],
    ['the reverse', [4, 3, 2, 1], [-1, -1, 1, 1], 0],
    // positives 2, 4 against negatives 1, 3: 2 > 1, 4 > 1, 4 > 3 of four
    ['three pairs of four', [1, 2, 3, 4], [-1, 1, -1, 1], 0.75],
    ['all tied', [5, 5, 5], [-1, 1, 1], 0.5],
    ['label 0 and what says nothing left out', [9, 1, NaN, 2, 3], [0, -1, 1, 1, NaN], 1],
  ])('%s', (_, score, label, expected) => expect(auc(column(...score), column(...label))).toBe(expected));

  it.each([
    ['no positive', [1, 2], [-1, 0]],
    ['no negative', [1, 2], [1, 1]],
    ['no rows', [], []],
  ])('NaN: %s', (_, score, label) => expect(auc(column(...score), column(...label))).toBeNaN());

  it('agrees with looking at every pair', () => {
    const rows = fc.array(fc.tuple(fc.constantFrom(NaN, -1.5, 0, 0.25, 2), fc.constantFrom(NaN, -1, 0, 1)), {
      maxLength: 30,
    });
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

describe('sortedRows', () => {
  it('leaves out what says nothing and marks where ties end', () => {
    const { order, endsTie } = sortedRows(column(3, NaN, 1, 3, 2, -Infinity));
    expect([...order]).toEqual([2, 4, 0, 3]);
    expect([...endsTie]).toEqual([1, 1, 0, 1]);
  });
});
