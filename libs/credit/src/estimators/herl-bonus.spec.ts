import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { herlBonus } from './herl-bonus.js';

const scored = (rubricScore: number, satisfied: boolean[] = [], revisedScores?: number[]) => ({
  ...rollout('g', rubricScore),
  signals: { rubricScore, satisfied, ...(revisedScores && { revisedScores }) },
});

describe('herl-bonus', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(herlBonus, [
      scored(0.6, [true, true], [0.8, 0.5]),
      scored(0.6, [true, false], [0.4]),
      scored(0.2),
      scored(0.4),
    ]);
    expect(columns.isCandidate).toEqual([1, 1, 0, 0]);
    expectNumbers(columns.trajectoryReward, [0.61, 0.59, 0.2, 0.4], 1e-12);
    expectNumbers(trajectoryAdvantage, [0.8348, 0.7305, -1.3044, -0.2609], 1e-4);
  });

  it('takes first who satisfies more, then who stands first', () => {
    const tied = [scored(0.5, [true]), scored(0.5, [true, true]), scored(0.5, [true])];
    expect(estimateOf(herlBonus, tied, { candidateLimit: 2 }).columns.isCandidate).toEqual([1, 1, 0]);
    expect(estimateOf(herlBonus, tied, { candidateLimit: 1 }).columns.isCandidate).toEqual([0, 1, 0]);
  });

  it('pays the best only, and nobody in a group that is solved', () => {
    const revised = [scored(0.5, [], [1]), scored(0.4, [], [1])];
    expectNumbers(estimateOf(herlBonus, revised).columns.trajectoryReward, [0.525, 0.4], 1e-12);
    const solved = [scored(1, [], [1]), scored(0.4, [], [1])];
    expect(estimateOf(herlBonus, solved).columns.isCandidate).toEqual([0, 0]);
    expect(estimateOf(herlBonus, revised, { successThreshold: 0.5 }).columns.isCandidate).toEqual([0, 0]);
  });

  it('is GRPO on the scores where nothing was revised', () => {
    const plain = [scored(0.9), scored(0.3, [], []), scored(0.6)];
    expectNumbers(creditOf(herlBonus, plain, { epsilon: 0 }).values, [1, -1, 0], 1e-12);
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(herlBonus, [scored(0.1, [], [0.3]), scored(0.1, [], [0.3])]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(herlBonus, [scored(0.5, [], [0.9])], { epsilon: 0 }).values, [0.52], 1e-12);
    expect([...creditOf(herlBonus, [scored(0.5, [], [0.9])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
