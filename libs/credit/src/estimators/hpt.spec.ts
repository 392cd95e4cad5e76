import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollouts } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { hpt } from './hpt.js';

const outcomes = fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 1, maxLength: 6 });

describe('hpt', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(hpt, [...rollouts('g0', 1, 0), ...rollouts('g1', 0, 0)]);
    expect(trajectoryAdvantage).toEqual([0.5, -0.5, 0, 0]);
    expect(columns.groupMode).toEqual(['rl', 'sft']);
    expect(columns.solvedCount).toEqual([1, 0]);
    expect(columns.sftWeight).toEqual([0, 1]);
  });

  it('switches by how often a group was solved, exactly', () => {
    const modes = (params: object, ...rewards: number[]) =>
      estimateOf(hpt, rollouts('g', ...rewards), params).columns.groupMode;
    expect(modes({}, 0.999, 0.999)).toEqual(['sft']);
    expect(modes({ switchGate: 1 }, 1, 0)).toEqual(['sft']);
    expect(modes({ switchGate: 1 }, 1, 1)).toEqual(['rl']);
    expect(modes({ switchGateOff: 1 }, 1, 0)).toEqual(['offPolicy']);
    expect(modes({ switchGateOff: 1 }, 0, 0)).toEqual(['sft']);
    expect(modes({ successValue: 0.5 }, 0.5, 0)).toEqual(['rl']);
  });

  it('gives a group that is not trained by RL exactly 0', () => {
    expect([...creditOf(hpt, rollouts('g', 0.7, 0.1, 0.4)).values]).toEqual([0, 0, 0]);
    expect([...creditOf(hpt, rollouts('g', 1, 0), { switchGateOff: 1 }).values]).toEqual([0, 0]);
  });

  it('is the group advantage, without or with the spread, where the gate is always open', () => {
    fc.assert(
      fc.property(outcomes, fc.boolean(), (rewards, normalizeByStd) => {
        const records = rollouts('g', ...rewards);
        const open = { switchGate: -1, switchGateOff: -1, normalizeByStd };
        expectNumbers(creditOf(hpt, records, open).values, creditOf(grpo, records, { normalizeByStd }).values, 1e-12);
      }),
    );
  });

  it('gives exactly 0 where outcomes agree', () => {
    expect([...creditOf(hpt, rollouts('g', 1, 1, 1), { normalizeByStd: true }).values]).toEqual([0, 0, 0]);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expect([...creditOf(hpt, rollouts('g', 1)).values]).toEqual([1]);
    expect([...creditOf(hpt, rollouts('g', 1), { singleton: 'zero' }).values]).toEqual([0]);
  });
});
