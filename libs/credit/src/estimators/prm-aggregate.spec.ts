import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { prmAggregate } from './prm-aggregate.js';

const scored = (scores: number[], finalAnswer: string | null = null) => ({
  ...rollout('g', 0, scores.map((processReward) => ({ signals: { processReward } }))), // prettier-ignore
  signals: { finalAnswer },
});
const two = [scored([0.9, 0.4, 0.8], 'x'), scored([0.6], 'y')];
const selected = (records: ReturnType<typeof scored>[], rule: string) =>
  estimateOf(prmAggregate, records).columns[`selectedAnswer.${rule}`];

describe('prm-aggregate', () => {
  it('gives the numbers of its page', () => {
    const { columns } = estimateOf(prmAggregate, two);
    expectNumbers(columns['trajectoryScore.min'], [0.4, 0.6], 1e-12);
    expectNumbers(columns['trajectoryScore.product'], [0.288, 0.6], 1e-12);
    expectNumbers(columns['trajectoryScore.mean'], [0.7, 0.6], 1e-12);
    expectNumbers(columns['trajectoryScore.softmin'], [0.4104, 0.6], 1e-4);
  });

  it.each([
    ['min', [-1, 1]],
    ['last', [1, -1]],
    ['mean', [1, -1]],
  ])('gives the advantage of the score that it is told to: %s', (aggregate, signs) => {
    const half = signs.map((sign) => sign * Math.SQRT1_2);
    expectNumbers(creditOf(prmAggregate, two, { aggregate, epsilon: 0 }).values, half, 1e-12);
  });

  it('selects the answer of the best, the first of several', () => {
    const tied = [scored([0.2], 'x'), scored([0.5], 'y'), scored([0.5], 'x')];
    expect(selected(tied, 'minMax')).toEqual(['y']);
    expect(selected(tied, 'lastMax')).toEqual(['y']);
  });

  it('adds up the votes of equal answers', () => {
    const votes = [scored([0.3], 'x'), scored([0.5], 'y'), scored([0.3], 'x')];
    expect(selected(votes, 'majorityVote')).toEqual(['x']);
    expect(selected(votes, 'minVote')).toEqual(['x']);
    expect(selected([scored([], 'x'), scored([0.3], 'x'), scored([0.2], 'y')], 'minVote')).toEqual(['y']);
  });

  it('lets nobody vote who has no answer', () => {
    expect(selected([scored([0.9]), scored([0.2], 'y')], 'minMax')).toEqual(['y']);
    expect(estimateOf(prmAggregate, [scored([0.9])]).columns['selectedAnswer.minVote']).toEqual([null]);
  });

  it('gives an empty trajectory the score for it', () => {
    const { columns } = estimateOf(prmAggregate, [scored([], 'x'), scored([0.5], 'y')], { emptyScore: -2 });
    for (const how of ['min', 'product', 'last', 'mean', 'softmin']) {
      expect(columns[`trajectoryScore.${how}`]).toEqual([-2, 0.5]);
    }
  });

  it('gives 0 to a group that agrees, and a group of one its score or 0', () => {
    expect([...creditOf(prmAggregate, [scored([0.1, 0.5]), scored([0.9, 0.5])]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(prmAggregate, [scored([0.5])], { epsilon: 0 }).values, [0.5], 1e-12);
    expect([...creditOf(prmAggregate, [scored([0.5])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
