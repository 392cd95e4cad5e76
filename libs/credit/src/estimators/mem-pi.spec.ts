import { describe, expect, it } from 'vitest';
import { estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { memPi } from './mem-pi.js';

const branch = (outcome: number, abstained: boolean, tokenRole: string[], mask?: number[]) => ({
  ...rollout('g', outcome, [{ tokens: { tokenRole, ...(mask && { mask }) } }]),
  signals: { abstained },
});
const both = ['decision', 'content'];
const abstaining = branch(0.4, true, ['decision']);

describe('mem-pi', () => {
  it('gives the numbers of its page', () => {
    const given = [abstaining, branch(0.8, false, both), branch(0.3, false, both), branch(0.7, false, both)];
    const { tokenAdvantage, columns } = estimateOf(memPi, given);
    expectNumbers(tokenAdvantage, [-0.2, 0.2, 0.2, 0.2, -0.3, 0.2, 0.1], 1e-12);
    expectNumbers(columns.guidanceGain, [0.2, 0.2, 0.2, 0.2], 1e-12);
  });

  it('does not teach what to write where it is better not to', () => {
    const given = [abstaining, branch(0.3, false, both), branch(0.1, false, both)];
    expectNumbers(estimateOf(memPi, given).tokenAdvantage, [0.2, -0.2, 0, -0.2, 0], 1e-12);
  });

  it('gives 0 to tokens that the policy did not generate, and to the content of who abstained', () => {
    const given = [branch(0, true, both), branch(1, false, both, [1, 0])];
    expectNumbers(estimateOf(memPi, given).tokenAdvantage, [-1, 0, 1, 0], 1e-12);
  });

  it('gives 0 where one side is missing, and says so', () => {
    for (const given of [[abstaining], [branch(1, false, both), branch(0, false, both)]]) {
      const { tokenAdvantage, warnings } = estimateOf(memPi, given);
      expect((tokenAdvantage as number[][][]).flat(2).every((value) => value === 0)).toBe(true);
      expect(warnings).toEqual(['groups without both a branch that wrote and one that abstained: 1, which got 0']);
    }
  });

  it('gives 0 where branches agree', () => {
    const given = [branch(0.5, true, ['decision']), branch(0.5, false, both)];
    expectNumbers(estimateOf(memPi, given).tokenAdvantage, [0, 0, 0], 0);
  });
});
