import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { trustGrpo } from './trust-grpo.js';

const judged = (answerScore: number, thinkingReward: number, group = 'g') => ({
  ...rollout(group, answerScore, [{}], 100),
  signals: { answerScore, thinkingReward },
});
const four = [judged(1, 0.4), judged(0.3, 0.9), judged(0.4, 0.8), judged(1, 0.5)];
const coefficient = 0.3 * Math.exp(-0.2);

describe('trust-grpo', () => {
  it.each(['released', 'paper'])('gives the numbers of its page: %s', (variant) => {
    const { columns, trajectoryAdvantage } = estimateOf(trustGrpo, four, { variant });
    // right 0.45, wrong 0.85
    expectNumbers(columns.appliedCoefficient, Array(4).fill(Math.exp(-0.4) * coefficient), 1e-12);
    expectNumbers(columns.trajectoryReward, [1.0659, 0.4482, 0.5317, 1.0823], 1e-4);
    expectNumbers(trajectoryAdvantage, [0.8372, -0.9847, -0.7383, 0.8857], 1e-4);
  });

  it('logs another gamma than it applies, as the code does', () => {
    expectNumbers(estimateOf(trustGrpo, four).columns.gammaLogged, Array(4).fill(Math.exp(-0.8)), 1e-12);
    const paper = estimateOf(trustGrpo, four, { variant: 'paper' });
    expectNumbers(paper.columns.gammaLogged, Array(4).fill(Math.exp(-0.4)), 1e-12);
  });

  it('lets go of thinking as training goes on', () => {
    const early = estimateOf(trustGrpo, four, { trainingStep: 0 }).columns.appliedCoefficient;
    expectNumbers(early, Array(4).fill(0.3 * Math.exp(-0.4)), 1e-12);
    expectNumbers(estimateOf(trustGrpo, four, { trainingStep: 10_000 }).columns.appliedCoefficient, [0, 0, 0, 0], 1e-8);
  });

  it('has no mistrust to apply where wrong answers score nothing', () => {
    const binary = [judged(1, 0.1), judged(0, 1), judged(0, 1)];
    const { columns } = estimateOf(trustGrpo, binary);
    expect(columns.thinkingUsed).toEqual([0.1, 0, 0]);
    expectNumbers(columns.appliedCoefficient, Array(3).fill(coefficient), 1e-12);
    const paper = estimateOf(trustGrpo, binary, { variant: 'paper' });
    expect(paper.columns.thinkingUsed).toEqual([0.1, 1, 1]);
    expectNumbers(paper.columns.appliedCoefficient, Array(3).fill(Math.exp(-0.9) * coefficient), 1e-12);
  });

  it('asks no judge about a group that agrees, unless it follows the paper', () => {
    const right = [judged(1, 0.2), judged(0.95, 0.9)];
    const { columns } = estimateOf(trustGrpo, right);
    expect(columns.trajectoryReward).toEqual([1, 0.95]);
    expect(columns.gammaLogged).toEqual([0.5, 0.5]);
    const paper = estimateOf(trustGrpo, right, { variant: 'paper' });
    expectNumbers(paper.columns.trajectoryReward, [1 + coefficient * 0.2, 0.95 + coefficient * 0.9], 1e-12);
  });

  it('is GRPO on the scores where thinking weighs nothing, and 0 where they agree', () => {
    const values = creditOf(trustGrpo, four, { thinkingWeight: 0, epsilon: 0, normalizeByStd: false }).values;
    expectNumbers(values, [0.325, -0.375, -0.275, 0.325], 1e-12);
    expect([...creditOf(trustGrpo, [judged(0.3, 0.7), judged(0.3, 0.7)]).values]).toEqual([0, 0]);
  });

  it('keeps the reward of a group of one, or gives it 0', () => {
    const alone = [judged(0.6, 0.8)];
    expectNumbers(creditOf(trustGrpo, alone, { epsilon: 0 }).values, [0.6 + coefficient * 0.8], 1e-12);
    expect([...creditOf(trustGrpo, alone, { singleton: 'zero' }).values]).toEqual([0]);
  });
});
