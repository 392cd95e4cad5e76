import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { discountedReturn } from './discounted-return.js';

const turns = (...rewards: number[]) => rewards.map((reward) => ({ reward }));

describe('discounted-return', () => {
  it('discounts what is still to come', () => {
    // 1, 0.9 · 1, 0.9 · 0.9
    expectNumbers(creditOf(discountedReturn, [rollout('g', 1, turns(0, 0, 1))], { gamma: 0.9 }).values, [0.81, 0.9, 1]);
  });

  it('ends at the trajectory, and is its own column', () => {
    const { turnAdvantage, columns } = estimateOf(
      discountedReturn,
      [rollout('g', 0, turns(1, 2)), rollout('g', 0, []), rollout('g', 0, turns(4))],
      { gamma: 0.5 },
    );
    expect(turnAdvantage).toEqual([[2, 2], [], [4]]);
    expect(columns.turnReturn).toEqual(turnAdvantage);
  });

  it('is linear in the rewards', () => {
    const rewards = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 });
    const of = (r: number[]) => creditOf(discountedReturn, [rollout('g', 0, turns(...r))]).values;
    fc.assert(
      fc.property(rewards, rewards, (a, b) => {
        expectNumbers(of(a.map((r, t) => r + 2 * b[t])), of(a).map((g, t) => g + 2 * of(b)[t]), 1e-9); // prettier-ignore
      }),
    );
  });
});
