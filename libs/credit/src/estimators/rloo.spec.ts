import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollouts } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { rloo } from './rloo.js';

const advantageOf = (rewards: number[], params: object = {}) =>
  creditOf(rloo, rollouts('g', ...rewards), params).values;
const rewards = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 9 });

describe('rloo', () => {
  it('scores a trajectory against the mean of the others', () => {
    // 3 − (1 + 2) / 2, 1 − (3 + 2) / 2, 2 − (3 + 1) / 2
    expectNumbers(advantageOf([3, 1, 2]), [1.5, -1.5, 0], 1e-12);
    expectNumbers(advantageOf([1, 0, 0]), [1, -0.5, -0.5], 1e-12);
  });

  it('shows the baseline', () => {
    expectNumbers(estimateOf(rloo, rollouts('g', 3, 1, 2)).columns.baseline, [1.5, 2.5, 2], 1e-12);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expectNumbers(advantageOf([0.5]), [0.5], 0);
    expectNumbers(advantageOf([0.5], { singleton: 'zero' }), [0], 0);
  });

  it('gives exactly 0 to a group that agrees', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: 2, max: 9 }), (r, size) => {
        expect(advantageOf(Array.from({ length: size }, () => r)).every((a) => a === 0)).toBe(true);
      }),
    );
  });

  it('is Dr. GRPO times n / (n - 1): sums to zero, sees no shift, keeps the scale', () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (r, shift, scale) => {
        const advantage = advantageOf(r);
        const centred = creditOf(grpo, rollouts('g', ...r), { normalizeByStd: false }).values;
        expectNumbers(advantage, centred.map((a) => (a * r.length) / (r.length - 1)), 1e-9); // prettier-ignore
        expect(advantage.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        expectNumbers(advantageOf(r.map((value) => scale * value + shift)), advantage.map((a) => scale * a), 1e-9); // prettier-ignore
      }),
    );
  });
});
