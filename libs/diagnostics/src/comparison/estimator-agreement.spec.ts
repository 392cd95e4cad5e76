import { spearman } from '#lib/numeric';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agreementSums, estimatorAgreement, rankAgreement, rankedColumn } from './estimator-agreement.js';
import { pairName } from './sums.js';

const column = (...values: number[]) => Float64Array.from(values);

function agreement(left: Float64Array, right: Float64Array) {
  const ranks = rankAgreement(rankedColumn(left), rankedColumn(right));
  return estimatorAgreement(pairName('left', 'right'), agreementSums(left, right), ranks);
}

describe('estimator agreement', () => {
  it('is worked by hand', () => {
    const found = agreement(column(1, -2, 0, 3, NaN), column(2, 1, 0, 0, 5));
    expect(found.n).toBe(4);
    expect(found.signConfusion).toEqual([
      [0, 0, 1],
      [0, 1, 0],
      [0, 1, 1],
    ]);
    expect(found).toMatchObject({
      signAgreement: 0.5,
      weightedSignAgreement: 0.5,
      flipCount: 1,
      onlyLeft: 1,
      onlyRight: 0,
    });
    // L = 1 −2 0 3: mean .5, squares 13; R = 2 1 0 0: mean .75, squares 2.75; products −1.5
    expect(found.pearson).toBeCloseTo(-1.5 / Math.sqrt(13 * 2.75), 12);
    expect(found.scaleRatio).toBeCloseTo(Math.sqrt(2.75 / 13), 12);
    expect(found.slopeThroughOrigin).toBe(0);
    // ranks 3 1 2 4 and 4 3 1.5 1.5: deviations .5 −1.5 −.5 1.5 and 1.5 .5 −1 −1
    expect(found.spearman).toBeCloseTo((0.75 - 0.75 + 0.5 - 1.5) / Math.sqrt(5 * 4.5), 12);
    // the top of four is one turn: 3 on the left, 2 on the right
    expect(found.topOverlap).toBe(0);
  });

  it('ranks again where only one speaks of a turn', () => {
    const value = fc.oneof(fc.constant(NaN), fc.integer({ min: -3, max: 3 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 30 }), (rows) => {
        const [left, right] = [column(...rows.map(([l]) => l)), column(...rows.map(([, r]) => r))];
        const expected = spearman(left, right);
        const found = rankAgreement(rankedColumn(left), rankedColumn(right)).spearman;
        if (Number.isNaN(expected)) expect(found).toBeNaN();
        else expect(found).toBeCloseTo(expected, 12);
      }),
    );
  });

  it('is null with a reason for a constant, but still counts signs', () => {
    const found = agreement(column(1, -1), column(0.1, 0.1));
    expect(found).toMatchObject({ pearson: null, spearman: null, scaleRatio: 0, signAgreement: 0.5 });
    expect(found.reasons).toEqual({ pearson: 'right is constant', spearman: 'right is constant' });
  });

  it.each([
    ['no turn', column(), column()],
    ['no common turn', column(1, NaN), column(NaN, 2)],
  ])('is null for %s', (_, left, right) => {
    const found = agreement(left, right);
    expect(found).toMatchObject({ n: 0, pearson: null, spearman: null, signAgreement: null, topOverlap: null });
    expect(found.reasons['pearson']).toBe('no turn of which both speak');
  });

  it('is perfect of a column with itself, and reversed with its negative', () => {
    const values = column(0.5, -2, 3, 1, -0.1, 0.7, 9, -4, 2, 6, 0.3);
    const negative = values.map((value) => -value);
    expect(agreement(values, values)).toMatchObject({ pearson: 1, spearman: 1, signAgreement: 1, topOverlap: 1 });
    expect(agreement(values, negative)).toMatchObject({ pearson: -1, spearman: -1, signAgreement: 0, topOverlap: 1 });
  });
});
