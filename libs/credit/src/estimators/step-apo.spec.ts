import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE, withTurns } from '../tree-signals.fixture.js';
import { stepApo } from './step-apo.js';

const siblings = (...turns: object[]) => withTurns(turns.map((_, i) => branch(`${i}`, i, 1)), turns.map((each) => [each])); // prettier-ignore
const turn = (qValue: number, logprob: number, refLogprob: number) => ({ qValue, logprob, refLogprob });
const example = siblings(turn(0, -1.2, -1), turn(0.5, -0.5, -1));
const perTurn = { logprobLevel: 'turn' };

describe('step-apo', () => {
  it('shifts the logit by the difference of the values', () => {
    const { columns, turnAdvantage } = estimateOf(stepApo, example, perTurn);
    expectNumbers(columns['pairLoss'], [0.9311], 1e-4);
    expectNumbers(columns['pairWeight'], [0.6059], 1e-4);
    expectNumbers(turnAdvantage, [-0.6059, 0.6059], 1e-4);
  });

  it('takes the mean outcome below for the value', () => {
    const { columns } = estimateOf(stepApo, example, { ...perTurn, source: 'leaves', beta: 0 });
    expect(columns['nodeValue']).toEqual([[0], [1]]);
    expectNumbers(columns['pairWeight'], [1 / (1 + Math.exp(-1))], 1e-12);
    const toy = withTurns(TOY_TREE, TOY_TREE.map(({ turns }) => turns.map(() => turn(0, 0, 0)))); // prettier-ignore
    expect(estimateOf(stepApo, toy, { ...perTurn, source: 'leaves' }).columns['chosen']).toEqual(['t3:0', 't0:1', 't0:2']); // prettier-ignore
  });

  it('makes no pair of equal values, nor of such that are too near', () => {
    expect([...creditOf(stepApo, siblings(turn(1, -1, -2), turn(1, -2, -1)), perTurn).values]).toEqual([0, 0]);
    expect([...creditOf(stepApo, example, { ...perTurn, minGap: 0.6 }).values]).toEqual([0, 0]);
  });
});
