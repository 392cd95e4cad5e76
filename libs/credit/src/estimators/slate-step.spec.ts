import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, withTurns } from '../tree-signals.fixture.js';
import { slateStep } from './slate-step.js';

const search = (judgeThink: number, judgeAction: number) => ({ judgeThink, judgeAction, actionType: 'search' });
const answer = (judgeThink: number, judgeAction: number) => ({ judgeThink, judgeAction, actionType: 'answer' });
const candidates = (...first: object[]) => withTurns(first.map((_, i) => branch(`${i}`, 0, 1)), first.map((each) => [each])); // prettier-ignore

describe('slate-step', () => {
  it('compares the candidates for one step', () => {
    const records = withTurns(
      [branch('main', 0, 2), branch('first', 0, 1, ['main', -1]), branch('second', 0, 2, ['main', 0])],
      [[search(1, 1), answer(1, 1)], [search(-1, 0)], [search(1, 1), search(0, 0)]],
    );
    const { turnAdvantage, columns } = estimateOf(slateStep, records);
    expectNumbers(columns['turnReward'], [2, 2.075, -1, 2, 0], 1e-12);
    expectNumbers(turnAdvantage, [Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2], 1e-4);
    expectNumbers(columns['selectionProbability'], [0.8829, 0.8829, 0.1171, 0.8829, 0.1171], 1e-4);
  });

  it('pays an early answer more, and one beyond the budget less', () => {
    const late = (turns: number) => estimateOf(slateStep, withTurns([branch('a', 0, turns)], [Array(turns).fill(answer(0, 0))]), { turnBudget: 2, bonusWeight: 1 }).columns['turnReward']; // prettier-ignore
    expectNumbers(late(4), [1, 0.5, 0, -0.5], 1e-12);
  });

  it('goes on with the best where the temperature is 0, shared where two are', () => {
    const { columns } = estimateOf(slateStep, candidates(search(1, 0), search(0, 1), search(0, 0)), { selectionTemperature: 0 }); // prettier-ignore
    expect(columns['selectionProbability']).toEqual([[0.5], [0.5], [0]]);
  });

  it('gives exactly 0 to one alone and to candidates judged alike', () => {
    expect(estimateOf(slateStep, candidates(search(1, 1))).turnAdvantage).toEqual([[0]]);
    expect(estimateOf(slateStep, candidates(search(1, 1), search(1, 1), search(1, 1))).turnAdvantage).toEqual([[0], [0], [0]]); // prettier-ignore
    expect(estimateOf(slateStep, candidates(search(1, 1))).columns['selectionProbability']).toEqual([[1]]);
  });

  it('sums to 0 over a decision, and its probabilities to 1', () => {
    const score = fc.constantFrom(-1, 0, 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 6 }), (scores) => {
        const { turnAdvantage, columns } = estimateOf(slateStep, candidates(...scores.map(([a, b]) => search(a, b))));
        const sum = (nested: unknown) => (nested as number[][]).flat().reduce((total, value) => total + value, 0);
        expect(sum(turnAdvantage)).toBeCloseTo(0, 9);
        expect(sum(columns['selectionProbability'])).toBeCloseTo(1, 9);
      }),
    );
  });
});
