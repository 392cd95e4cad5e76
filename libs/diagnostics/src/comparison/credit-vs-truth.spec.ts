import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { comparisonOf } from './comparison.js';
import { firstError } from './credit-vs-truth.js';
import { summarizeShard } from './summarize-shard.js';

/** One trajectory per list, each its own group. */
function against(credits: readonly (readonly number[])[], truths: readonly (readonly number[])[]) {
  const trajectories = trajectoryBatch(
    credits.map((list, i) => ({ id: `t${i}`, group: `g${i}`, trainingStep: 0, turns: list.map(() => ({})) })),
  );
  const summary = summarizeShard({
    run: 'r',
    trajectories,
    credits: new Map([['x', Float64Array.from(credits.flat())]]),
    truths: new Map([['truth', Float64Array.from(truths.flat())]]),
    sampleRate: 1,
    topK: 3,
  });
  return comparisonOf(summary).truths[0];
}

describe('credit against a truth', () => {
  it('is worked by hand for labels', () => {
    const found = against([[3, 1, 2, 0]], [[1, 0, -1, -1]]);
    expect(found).toMatchObject({ n: 4, isLabel: true, positive: 1, negative: 2, erroneousTrajectories: 1 });
    expect(found.meanCreditByLabel).toEqual([1, 1, 3]);
    // +1 (3) beats both −1 (2, 0); of −1 against the rest {3, 1}: 2 < 3, 0 < 3, 0 < 1 of four; 3 beats all
    expect(found).toMatchObject({ auc: 1, aucHarmful: 0.75, aucUseful: 1 });
    // five pairs differ in label; 1 against 2 is the wrong one
    expect(found).toMatchObject({ pairs: 5, withinTrajectoryPairAccuracy: 0.8 });
    // least credit on turn 3, first error on turn 2
    expect(found).toMatchObject({ firstErrorHit: 0, firstErrorWithinOne: 1, firstErrorChance: 0.25 });
    // ranks 4 2 3 1 against 4 3 1.5 1.5: products 2.25 − .25 − .5 + 1.5
    expect(found.spearman).toBeCloseTo(3 / Math.sqrt(5 * 4.5), 12);
  });

  it('leaves turns of truth 0 out of the AUC, and asks no label questions of an advantage', () => {
    const found = against([[1, 9, -1], [0.5]], [[0.2, 0, -0.3], [0.1]]);
    expect(found).toMatchObject({ n: 4, isLabel: false, auc: 1, aucHarmful: null, firstErrorHit: null });
    expect(found.reasons['aucHarmful']).toBe('truth is no label: it takes values other than -1, 0, 1');
  });

  it('gives an outcome estimator exactly one half inside trajectories, whatever its AUC', () => {
    const found = against(
      [
        [1, 1, 1],
        [-1, -1, -1],
      ],
      [
        [1, 1, -1],
        [-1, -1, 1],
      ],
    );
    expect(found.withinTrajectoryPairAccuracy).toBe(0.5);
    expect(found.auc).toBeCloseTo(2 / 3, 12);
  });

  it.each([
    ['no turn', [], [], 'no turn has both truth and x'],
    ['no common turn', [[1, NaN]], [[NaN, 1]], 'no turn has both truth and x'],
    ['a constant credit', [[2, 2]], [[1, -1]], 'x is constant'],
    ['a constant truth', [[1, 2]], [[1, 1]], 'truth is constant'],
  ])('is null with a reason for %s', (_, credits, truths, reason) => {
    const found = against(credits, truths);
    if (credits.length === 0) return expect(found.n).toBe(0);
    expect(found).toMatchObject({ spearman: null, pearson: null, low: null, high: null });
    expect(found.reasons['spearman']).toBe(reason);
  });

  it('says which side of the AUC is missing', () => {
    expect(against([[1, 2]], [[0.5, 0]]).reasons['auc']).toBe('no turn where truth is below 0');
    expect(against([[1, 2]], [[-1, 0]]).reasons['aucUseful']).toBe('no turn is labelled 1');
  });

  it('has no interval from a single group', () => {
    expect(against([[1, 2, 3]], [[1, -1, 1]])).toMatchObject({ aucLow: null, low: null });
  });
});

describe('first error', () => {
  const of = (credit: number[], truth: number[]) =>
    firstError(Float64Array.from(credit), Float64Array.from(truth), 0, credit.length);

  it('is found by the least credit, the first of equals', () => {
    expect(of([0, -1, -1, 2], [0, -1, 1, -1])).toEqual({ distance: 0, chance: 0.25 });
    expect(of([5, 4, 3], [-1, 1, 1])).toEqual({ distance: 2, chance: 1 / 3 });
  });

  it('is not asked for where there is none', () => {
    expect(of([1, 2], [0, 1])).toBeNull();
    expect(of([NaN, 2], [-1, 1])).toBeNull();
    expect(of([], [])).toBeNull();
  });
});
