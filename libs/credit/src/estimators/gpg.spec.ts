import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollouts } from '../estimator.fixture.js';
import { gpg } from './gpg.js';
import { grpo } from './grpo.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(gpg, records, params).values;
const rewards = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 9 });

describe('gpg', () => {
  it('gives the numbers of its page', () => {
    // 2 of 4 rewards are not 0, so α = 2; the group's mean is 1/3
    const records = [...rollouts('g0', 1, 0, 0), ...rollouts('g1', 0.5)];
    const { trajectoryAdvantage, columns } = estimateOf(gpg, records);
    expectNumbers(trajectoryAdvantage, [4 / 3, -2 / 3, -2 / 3, 1]);
    expect(columns.alpha).toBe(2);
    expectNumbers(columns.groupMean, [1 / 3, 1 / 3, 1 / 3, 0]);
    expectNumbers(advantageOf(records, { fNorm: 4, singleton: 'zero' }), [1 / 3, -1 / 6, -1 / 6, 0]);
  });

  it('counts rewards that are not 0, negative ones and those of groups that agree too', () => {
    // α = 4 / 3, mean −0.5
    expectNumbers(advantageOf([...rollouts('g', -1, 0), ...rollouts('h', 2, 2)]), [-2 / 3, 2 / 3, 0, 0], 1e-12);
  });

  it('gives 0 where nothing was rewarded, and exactly 0 to a group that agrees', () => {
    const { trajectoryAdvantage, columns } = estimateOf(gpg, rollouts('g', 0, 0, 0));
    expect(trajectoryAdvantage).toEqual([0, 0, 0]);
    expect(columns.alpha).toBe(3);
    const agreeing = [...rollouts('g', 0.1, 0.1, 0.1), ...rollouts('h', 0, 0, 0, 0)];
    expect([...advantageOf(agreeing)].every((a) => a === 0)).toBe(true);
  });

  it('is Dr. GRPO times the inverse share of what was rewarded: sums to zero, keeps the scale', () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: 1, max: 9 }), (r, scale) => {
        const records = rollouts('g', ...r);
        const alpha = r.length / Math.max(1, r.filter((reward) => reward !== 0).length);
        const centred = creditOf(grpo, records, { normalizeByStd: false }).values;
        const advantage = advantageOf(records);
        expectNumbers(advantage, centred.map((a) => alpha * a), 1e-9); // prettier-ignore
        expect(advantage.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        expectNumbers(advantageOf(rollouts('g', ...r.map((x) => scale * x))), advantage.map((a) => scale * a), 1e-9); // prettier-ignore
      }),
    );
  });

  it('does see a shift: 0 is no longer 0', () => {
    expectNumbers(advantageOf(rollouts('g', 1, 0)), [1, -1], 0);
    expectNumbers(advantageOf(rollouts('g', 2, 1)), [0.5, -0.5], 0);
  });

  it('lets a batch of more failures raise the credit of the others', () => {
    const alone = advantageOf(rollouts('g', 1, 0));
    const among = advantageOf([...rollouts('g', 1, 0), ...rollouts('h', 0, 0)]);
    expectNumbers(among.subarray(0, 2), alone.map((a) => 2 * a), 0); // prettier-ignore
  });
});
