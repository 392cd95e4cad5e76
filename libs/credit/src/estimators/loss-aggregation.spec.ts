import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout, spoken } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { lossAggregation } from './loss-aggregation.js';

// batch E of the methods: 2, 4, 6 and 3 tokens
const E = [spoken('g0', 1, 2), spoken('g0', 0, 1, 3), spoken('g0', 0, 2, 4), spoken('g1', 0.5, 3)];
const ofTrajectories = (params: object, records = E) =>
  estimateOf(lossAggregation, records, params).columns.trajectoryWeight;
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 });
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

describe('loss-aggregation', () => {
  it('gives the numbers of its page', () => {
    expectNumbers(ofTrajectories({}), [2 / 15, 4 / 15, 6 / 15, 3 / 15], 1e-12);
    expectNumbers(ofTrajectories({ variant: 'tokenSum' }), [2, 4, 6, 3], 0);
    expectNumbers(ofTrajectories({ variant: 'seqMeanTokenSum' }), [0.5, 1, 1.5, 0.75], 1e-12);
    expectNumbers(ofTrajectories({ variant: 'seqMeanTokenMean' }), [0.25, 0.25, 0.25, 0.25], 1e-8);
    expectNumbers(ofTrajectories({ variant: 'seqMeanTokenSumNorm', lossScaleFactor: 10 }), [0.05, 0.1, 0.15, 0.075], 1e-12); // prettier-ignore
  });

  it('weighs generated tokens only, and trajectories that have one', () => {
    const masked = rollout('g', 0, [{ tokens: { mask: [1, 0] } }, { tokens: { mask: [0, 1, 1] } }]);
    const silent = rollout('g', 0, [{ tokens: { mask: [0, 0] } }]);
    const { columns, tokenAdvantage } = estimateOf(lossAggregation, [masked, silent], { variant: 'seqMeanTokenSum' });
    expect(columns.tokenWeight).toEqual([[[1, 0], [0, 1, 1]], [[0, 0]]]); // prettier-ignore
    expect(columns.trajectoryWeight).toEqual([3, 0]);
    expect(tokenAdvantage).toEqual(columns.tokenWeight);
  });

  it('divides by the longest response where no scale is named, observations included', () => {
    const records = [spoken('g', 0, 2), rollout('g', 0, [{ tokens: { mask: [1, 1, 1, 0, 0] } }])];
    expectNumbers(ofTrajectories({ variant: 'seqMeanTokenSumNorm' }, records), [2 / 10, 3 / 10], 1e-12);
  });

  it('sums to 1 as a mean over tokens, and gives each trajectory the same as a mean of means', () => {
    fc.assert(
      fc.property(lengths, (tokens) => {
        const records = tokens.map((length) => spoken('g', 0, length));
        expect(sum(creditOf(lossAggregation, records).values)).toBeCloseTo(1, 9);
        const means = ofTrajectories({ variant: 'seqMeanTokenMean' }, records);
        expectNumbers(means, tokens.map(() => 1 / tokens.length), 1e-7); // prettier-ignore
      }),
    );
  });

  it('is one and the same mean where all lengths are equal', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (count, length) => {
        const records = Array.from({ length: count }, () => spoken('g', 0, length));
        const mean = creditOf(lossAggregation, records).values;
        for (const variant of ['seqMeanTokenMean', 'seqMeanTokenSumNorm']) {
          expectNumbers(creditOf(lossAggregation, records, { variant }).values, mean, 1e-7);
        }
      }),
    );
  });

  it('takes tokens without a mask for generated, and needs tokens', () => {
    const unmasked = [rollout('g', 0, [{ tokens: { logprob: [-1, -2] } }])];
    expectNumbers(creditOf(lossAggregation, unmasked).values, [0.5, 0.5], 0);
    expect(runEstimator(lossAggregation, trajectoryBatch([rollout('g', 0)]))).toEqual({
      kind: 'missing',
      missing: [{ path: 'token.mask', rows: 0, of: 0 }],
    });
  });
});
