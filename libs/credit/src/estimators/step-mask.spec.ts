import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { stepMask } from './step-mask.js';

type Votes = boolean | (boolean | null)[];
const marked = (outcome: number, ...turns: [wrong: Votes, reflection?: boolean][]) =>
  rollout('g', outcome, turns.map(([wrong, reflection = false]) => ({ signals: { wrong, reflection } }))); // prettier-ignore

describe('step-mask', () => {
  it('leaves out a wrong turn, unless it reflects', () => {
    expect([...creditOf(stepMask, [marked(0, [false], [true], [true, true])]).values]).toEqual([1, 0, 1]);
  });

  it('asks for more than half of the attempts', () => {
    const votes = marked(0, [[true, true, false]], [[true, false]], [[true, null]], [[null]]);
    expect([...creditOf(stepMask, [votes]).values]).toEqual([0, 1, 0, 1]);
  });

  it('shows the advantage that is left', () => {
    const given = [marked(1, [false], [true]), marked(0, [true], [false])];
    const { columns } = estimateOf(stepMask, given, { epsilon: 0 });
    expectNumbers(columns.maskedAdvantage, [Math.SQRT1_2, 0, 0, -Math.SQRT1_2], 1e-12);
  });

  it('leaves blame alone where only rewarded turns are masked', () => {
    const given = [marked(1, [false], [true]), marked(0, [true], [false])];
    const { columns, turnAdvantage } = estimateOf(stepMask, given, { variant: 'positiveOnly', epsilon: 0 });
    expect(turnAdvantage).toEqual([[1, 0], [1, 1]]); // prettier-ignore
    expectNumbers(columns.maskedAdvantage, [Math.SQRT1_2, 0, -Math.SQRT1_2, -Math.SQRT1_2], 1e-12);
  });

  it('needs outcomes only for that', () => {
    const bare = [{ id: 'a', group: 'g', trainingStep: 0, turns: [{ signals: { wrong: true, reflection: false } }] }];
    expect(estimateOf(stepMask, bare).columns.maskedAdvantage).toBeUndefined();
    expect(() => creditOf(stepMask, bare, { variant: 'positiveOnly' })).toThrow('trajectory.outcomeReward');
  });
});
