import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { rlvmr } from './rlvmr.js';

const turn = (reasoningTag: string, action: string, isActionValid = true, actionAvailable = true) => ({
  action,
  signals: { reasoningTag, isActionValid, actionAvailable },
});
const rewardsOf = (reward: number, ...turns: ReturnType<typeof turn>[]) =>
  (estimateOf(rlvmr, [rollout('g', reward, turns)]).columns.turnReward as number[][])[0];

describe('rlvmr', () => {
  it('gives the numbers of its page', () => {
    const { turnAdvantage, columns } = estimateOf(
      rlvmr,
      [
        rollout('g', 10, [turn('planning', 'a'), turn('explore', 'b', true, false), turn('reflection', 'c')]),
        rollout('g', 0, [turn('planning', 'a'), turn('explore', 'a'), turn('explore', 'd', false)]),
      ],
      { stepAdvantageWeight: 1 },
    );
    expect(columns.effectiveTag).toEqual([
      ['planning', 'explore', 'reflection'],
      ['planning', 'explore', 'none'],
    ]);
    expectNumbers(turnAdvantage, [1.62, 1.62, 1.9129, -1.6139, -1.6139, -0.925], 1e-4);
  });

  it('rewards planning where the rollout was rewarded', () => {
    expect(rewardsOf(1, turn('planning', 'a'))).toEqual([1]);
    expect(rewardsOf(0, turn('planning', 'a'))).toEqual([0]);
  });

  it('rewards exploring what no valid turn did before', () => {
    expect(rewardsOf(0, turn('explore', 'a'), turn('explore', 'a'), turn('explore', 'b'))).toEqual([1, 0, 1]);
    expect(rewardsOf(0, turn('explore', 'a', false), turn('explore', 'a'))).toEqual([0, 1]);
  });

  it('rewards reflection that changes what failed', () => {
    expect(rewardsOf(0, turn('reflection', 'a'))).toEqual([1]);
    expect(rewardsOf(0, turn('monitor', 'a', true, false), turn('reflection', 'b'))).toEqual([0, 1]);
    expect(rewardsOf(0, turn('monitor', 'a', true, false), turn('reflection', 'a'))).toEqual([0, 0]);
    expect(rewardsOf(0, turn('monitor', 'a'), turn('reflection', 'b'))).toEqual([0, 0]);
  });

  it('rewards neither monitoring nor what it does not know', () => {
    expect(rewardsOf(1, turn('monitor', 'a'), turn('Planning', 'b'), turn('', 'c'))).toEqual([0, 0, 0]);
  });

  it('counts a turn that does not say so as valid', () => {
    const silent = { action: 'a', signals: { reasoningTag: 'explore', actionAvailable: 1 } };
    expect(estimateOf(rlvmr, [rollout('g', 0, [silent])]).columns.turnReward).toEqual([[1]]);
  });

  it('does not mind scaled outcomes where nothing is invalid, and gives 0 to a group that agrees', () => {
    const of = (scale: number) => [
      rollout('g', scale, [turn('monitor', 'a'), turn('monitor', 'b')]),
      rollout('g', 0, [turn('monitor', 'a')]),
    ];
    const params = { epsilon: 0 };
    expectNumbers(creditOf(rlvmr, of(7), params).values, creditOf(rlvmr, of(1), params).values, 1e-12);
    expect([...creditOf(rlvmr, of(0)).values]).toEqual([0, 0, 0]);
  });

  it('is the outcome part alone at weight 0', () => {
    const { turnAdvantage, columns } = estimateOf(
      rlvmr,
      [rollout('g', 1, [turn('planning', 'a')]), rollout('g', 0, [turn('planning', 'a')])],
      { stepAdvantageWeight: 0 },
    );
    expect(turnAdvantage).toEqual(columns.episodeAdvantage);
  });
});
