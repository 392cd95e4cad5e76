import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { pGrpo } from './p-grpo.js';

const judged = (formatOk: number, outcome: number, thinkingReward: number) => ({
  ...rollout('g', outcome),
  success: outcome === 1,
  signals: { formatOk, thinkingReward },
});
const rewardOf = (records: ReturnType<typeof judged>[], params: object = {}) =>
  estimateOf(pGrpo, records, params).columns.trajectoryReward;

describe('p-grpo', () => {
  it('gives the numbers of its page', () => {
    const given = [judged(1, 1, 0.9), judged(1, 1, 0.5), judged(1, 0, 0.95), judged(0, 1, 0.2)];
    const { columns, trajectoryAdvantage } = estimateOf(pGrpo, given);
    expectNumbers(columns.trajectoryReward, [2.9, 2.5, 1, 1.2], 1e-12);
    expectNumbers(trajectoryAdvantage, [1.062, 0.6372, -0.9558, -0.7434], 1e-4);
  });

  it('lets thinking through where a graded outcome is whole, or in proportion', () => {
    const graded = [judged(0, 0.5, 0.8), judged(0, 1, 0.8)];
    expectNumbers(rewardOf(graded, { outcome: 'outcomeReward' }), [0.5, 1.8], 1e-12);
    expectNumbers(rewardOf(graded, { outcome: 'outcomeReward', gate: 'product' }), [0.9, 1.8], 1e-12);
    expectNumbers(rewardOf(graded, { processWeight: 2 }), [0, 2.6], 1e-12);
  });

  it('cannot be swayed by the thinking of wrong rollouts', () => {
    const plain = [judged(1, 0, 0), judged(1, 1, 0.5)];
    const fluent = [judged(1, 0, 1), judged(1, 1, 0.5)];
    expect(creditOf(pGrpo, fluent).values).toEqual(creditOf(pGrpo, plain).values);
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(pGrpo, [judged(1, 0, 0.2), judged(1, 0, 0.9)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(pGrpo, [judged(1, 1, 0.5)], { epsilon: 0 }).values, [2.5], 1e-12);
    expect([...creditOf(pGrpo, [judged(1, 1, 0.5)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
