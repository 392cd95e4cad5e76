import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { exprlRubric, rubricParts } from './exprl-rubric.js';

type Criterion = { weight?: number; score: number | null; firstTurn?: number | null };
const judged = (turns: number, ...criteria: Criterion[]) => ({
  ...rollout('g', 0, Array.from({ length: turns }, () => ({}))), // prettier-ignore
  signals: { criteria },
});
const weighed = (...scores: number[]) => judged(1, ...scores.map((score, j) => ({ weight: [2, 1, 1][j], score })));
const process = { variant: 'process' };

describe('exprl-rubric', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(exprlRubric, [weighed(1, 1, 0), weighed(1, 0.5, 0.5), weighed(0, 0, 1)]); // prettier-ignore
    expectNumbers(columns.trajectoryReward, [0.75, 0.75, 0.25], 1e-12);
    expectNumbers(trajectoryAdvantage, [0.5773, 0.5773, -1.1547], 1e-4);
  });

  it('clips scores, counts a failed judgement 0 and no weight 1', () => {
    const parts = rubricParts([{ score: 5 }, { score: null }, { weight: 2, score: 2 }], 4);
    expect(parts.map(({ value }) => value)).toEqual([0.25, 0, 0.25]);
    expect(rubricParts([], 1)).toEqual([]);
    expect(rubricParts([{ weight: 0, score: 1 }], 1)[0].value).toBe(0);
  });

  it('pays the turn that first met a criterion', () => {
    const given = [judged(3, { score: 1, firstTurn: 0 }, { score: 1, firstTurn: 2 }), judged(1, { score: 1, firstTurn: 7 }, { score: 1 })]; // prettier-ignore
    const { columns, turnAdvantage } = estimateOf(exprlRubric, given, { ...process, normalizeByStd: false });
    expect(columns.turnReward).toEqual([[0.5, 0, 0.5], [0]]);
    // mean 1/4: 1/4, -1/4, 1/4 and -1/4, summed from the end
    expectNumbers(turnAdvantage, [0.25, 0, 0.25, -0.25], 1e-12);
  });

  it('does not pay the next trajectory for what came after the last turn', () => {
    const given = [judged(1, { score: 1, firstTurn: 1 }), judged(1, { score: 0 })];
    expect(estimateOf(exprlRubric, given, process).columns.turnReward).toEqual([[0], [0]]);
  });

  it.each([{}, process])('gives 0 where all agree, and one alone its reward or 0: %s', (params) => {
    const one = () => judged(1, { score: 0.3, firstTurn: 0 });
    expect([...creditOf(exprlRubric, [one(), one()], params).values]).toEqual([0, 0]);
    expectNumbers(creditOf(exprlRubric, [one()], { ...params, epsilon: 0 }).values, [0.3], 1e-12);
    expect([...creditOf(exprlRubric, [one()], { ...params, singleton: 'zero' }).values]).toEqual([0]);
  });
});
