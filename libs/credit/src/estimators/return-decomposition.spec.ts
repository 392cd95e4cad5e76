import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { returnDecomposition } from './return-decomposition.js';

const acting = (reward: number, ...actions: string[]) =>
  rollout('g', reward, actions.map((action) => ({ action, signals: { turnFeature: 0 } }))); // prettier-ignore
const given = [acting(1, 'good', 'bad'), acting(2, 'good', 'good'), acting(0, 'bad')];

describe('return-decomposition', () => {
  it('finds what the actions are worth', () => {
    const { columns } = estimateOf(returnDecomposition, given);
    expect(columns.featureNames).toEqual(['bad', 'good', 'turnFeature']);
    expectNumbers(columns.turnReward, [0.9998, 0.0001, 0.9998, 0.9998, 0.0001], 1e-4);
  });

  it('solves one feature by hand', () => {
    // w = Σ x R / (Σ x² + ridge) = (1 · 2 + 2 · 1) / (1 + 4 + 1)
    const { columns } = estimateOf(returnDecomposition, [acting(2, 'a'), acting(1, 'a', 'a')], { ridge: 1 });
    expectNumbers(columns.featureWeights, [2 / 3, 0], 1e-12);
    expectNumbers(columns.predictedReturn, [2 / 3, 4 / 3], 1e-12);
    expectNumbers([columns.estimatorLoss], [((4 / 3) ** 2 + (1 / 3) ** 2) / 2], 1e-12);
  });

  it('fits means to the outcome per turn', () => {
    // both rows are x = 1; targets 2 and 0.5
    const { columns } = estimateOf(returnDecomposition, [acting(2, 'a'), acting(1, 'a', 'a')], {
      target: 'mean',
      ridge: 0.5,
    });
    expectNumbers(columns.featureWeights, [1, 0], 1e-12);
  });

  it('is linear in the outcomes', () => {
    const doubled = given.map((record) => ({ ...record, outcomeReward: 2 * record.outcomeReward! }));
    const values = creditOf(returnDecomposition, given).values;
    expectNumbers(creditOf(returnDecomposition, doubled).values, values.map((value) => 2 * value), 1e-9); // prettier-ignore
  });

  it('says 0 where all outcomes are 0', () => {
    const nothing = given.map((record) => ({ ...record, outcomeReward: 0 }));
    expect([...creditOf(returnDecomposition, nothing).values]).toEqual([0, 0, 0, 0, 0]);
  });

  it('gives the loss of drawn turns, and changes no credit for it', () => {
    const params = { ridge: 1e-9, subsets: [[0, 1], [0], [0]] };
    const { columns } = estimateOf(returnDecomposition, given, params);
    // r = 1 and 0: means 0.5, 1, 0 are right; the variance of 1 and 0 is 0.5, all of its turns were drawn: c = 0
    expectNumbers([columns.subsetLoss, columns.subsetVariance, columns.subsetTotalLoss], [0, 0, 0], 1e-9);
    expect(flat(columns.turnReward)).toEqual([...creditOf(returnDecomposition, given, { ridge: 1e-9 }).values]);

    const twice = { ...params, subsets: [[0, 1, 0], [0], [0]] };
    // K = 3 > T: c = 1; the variance of 1, 0, 1 is 1/3, over 3 trajectories
    expectNumbers([estimateOf(returnDecomposition, given, twice).columns.subsetVariance], [1 / 27], 1e-8);
  });

  it('refuses draws that are not turns of the trajectories', () => {
    expect(() => creditOf(returnDecomposition, given, { subsets: [[0]] })).toThrow(/every trajectory/);
    expect(() => creditOf(returnDecomposition, given, { subsets: [[2], [0], [0]] })).toThrow(/every trajectory/);
    expect(() => creditOf(returnDecomposition, given, { subsets: [[], [0], [0]] })).toThrow(/every trajectory/);
  });

  it('leaves trajectories without turns out', () => {
    const { columns } = estimateOf(returnDecomposition, [...given, acting(9)]);
    expect(columns.estimatorLoss).toBe(estimateOf(returnDecomposition, given).columns.estimatorLoss);
  });
});
