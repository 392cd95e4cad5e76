import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollouts } from '../estimator.fixture.js';
import { grpoPassk } from './grpo-passk.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(grpoPassk, records, params).values;
const rewards = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 9 });

describe('grpo-passk', () => {
  it('credits the best by its margin over the second best', () => {
    expectNumbers(advantageOf(rollouts('g', 0.5, 3, 1, 2.5), { normalizeByStd: false }), [0, 0.5, 0, 0], 0);
    // sample std of 1, 0, 0 is sqrt(1/3), so 1 / 0.577351
    expectNumbers(advantageOf(rollouts('g', 1, 0, 0)), [1.732048, 0, 0]);
    expectNumbers(advantageOf(rollouts('g', 0, 0, 1), { epsilon: 0 }), [0, 0, Math.sqrt(3)]);
  });

  it('shows the margin of each group', () => {
    const records = [...rollouts('g', 1, 3, 2), ...rollouts('h', 5), ...rollouts('k', 1, 1)];
    expect(estimateOf(grpoPassk, records).columns.margin).toEqual([1, null, 0]);
  });

  it('gives 0 to all where the top is tied, also up to rounding where the group agrees', () => {
    expect([...advantageOf(rollouts('g', 1, 0, 1, 0))]).toEqual([0, 0, 0, 0]);
    expect([...advantageOf(rollouts('g', 0.3, 0.1 + 0.2), { epsilon: 0 })]).toEqual([0, 0]);
  });

  it('gives 0 to a group of one and says so', () => {
    const { trajectoryAdvantage, warnings } = estimateOf(grpoPassk, [...rollouts('g', 7), ...rollouts('h', 1, 0)]);
    expectNumbers(trajectoryAdvantage, [0, Math.SQRT2, 0], 1e-5);
    expect(warnings).toEqual(['groups of one have no second best and get 0: 1 of 2']);
  });

  it('credits one of a group at most, the best one, and never below 0', () => {
    fc.assert(
      fc.property(rewards, rewards, (g, h) => {
        const advantage = advantageOf([...rollouts('g', ...g), ...rollouts('h', ...h)]);
        for (const [rewards, own] of [
          [g, advantage.subarray(0, g.length)],
          [h, advantage.subarray(g.length)],
        ] as const) {
          // prettier-ignore
          const sorted = rewards.toSorted((a, b) => b - a);
          const credited = rewards.filter((_, i) => own[i] > 0);
          expect(credited).toEqual(sorted[0] > sorted[1] ? [sorted[0]] : []);
          expect(own.every((a) => a >= 0)).toBe(true);
        }
      }),
    );
  });

  it('does not see a shift, and with the division no scale', () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (r, shift, scale) => {
        const moved = rollouts('g', ...r.map((value) => scale * value + shift));
        expectNumbers(advantageOf(moved, { epsilon: 0 }), advantageOf(rollouts('g', ...r), { epsilon: 0 }), 1e-9);
        const plain = advantageOf(rollouts('g', ...r), { normalizeByStd: false });
        expectNumbers(advantageOf(moved, { normalizeByStd: false }), plain.map((a) => scale * a), 1e-9); // prettier-ignore
      }),
    );
  });
});
