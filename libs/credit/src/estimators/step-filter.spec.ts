import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { stepFilter } from './step-filter.js';

const scored = (...scores: number[]) => rollout('g', 0, scores.map((stepScore) => ({ signals: { stepScore } }))); // prettier-ignore

describe('step-filter', () => {
  it('keeps what is above the bar', () => {
    expect([...creditOf(stepFilter, [scored(7, 5, 6, 2)]).values]).toEqual([1, 0, 1, 0]);
    expect([...creditOf(stepFilter, [scored(7, 5, 6, 2)], { keepAbove: 6 }).values]).toEqual([1, 0, 0, 0]);
  });

  it('caps a turn for which something clearly better existed', () => {
    const better = rollout('g', 0, [{ signals: { stepScore: 9, betterAlternative: true } }, { signals: { stepScore: 9, betterAlternative: false } }]); // prettier-ignore
    const { columns, turnAdvantage } = estimateOf(stepFilter, [better], { alternativeCap: 4 });
    expect(columns.cappedScore).toEqual([[4, 9]]);
    expect(turnAdvantage).toEqual([[0, 1]]);
  });

  it('shows scores against the mean of their trajectory', () => {
    expectNumbers(estimateOf(stepFilter, [scored(7, 5), scored(3)]).columns.centredScore, [0.1, -0.1, 0], 1e-12);
  });

  it('treats a trajectory alone like any other', () => {
    const alone = creditOf(stepFilter, [scored(7, 5)]).values;
    expect([...creditOf(stepFilter, [scored(7, 5), scored(2)]).values].slice(0, 2)).toEqual([...alone]);
  });
});
