import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout, rollouts, spoken } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { opo } from './opo.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(opo, records, params).values;
const rated = fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: 1, max: 9 })), {
  minLength: 2,
  maxLength: 9,
});

describe('opo', () => {
  it('gives the numbers of its page', () => {
    // batch E of the methods: 2, 4 and 6 tokens, so the baseline is (2 · 1 + 4 · 0 + 6 · 0) / 12
    const records = [spoken('g0', 1, 2), spoken('g0', 0, 1, 3), spoken('g0', 0, 2, 4), spoken('g1', 0.5, 3)];
    const { trajectoryAdvantage, columns } = estimateOf(opo, records);
    expectNumbers(trajectoryAdvantage, [0.833333, -0.166667, -0.166667, 0.5]);
    expectNumbers(columns.baseline, [1 / 6, 1 / 6, 1 / 6, 0]);
    expectNumbers(advantageOf(records, { singleton: 'zero' }), [0.833333, -0.166667, -0.166667, 0]);
  });

  it('counts generated tokens only', () => {
    const masked = rollout('g', 0, [{ tokens: { mask: [1, 0, 0, 1] } }, { tokens: { mask: [0] } }]);
    expectNumbers(advantageOf([masked, spoken('g', 4, 2)]), [-2, 2], 0);
  });

  it('judges a trajectory without a generated token, which does not move the baseline', () => {
    expectNumbers(advantageOf([spoken('g', 1, 2), spoken('g', 0, 2), spoken('g', 9)]), [0.5, -0.5, 8.5], 0);
  });

  it('falls back to the plain mean where a group has no token, and says so', () => {
    const records = [...rollouts('g', 1, 0, 0.5), spoken('h', 3, 1), spoken('h', 0, 2), rollout('k', 1)];
    const { trajectoryAdvantage, warnings } = estimateOf(opo, records);
    expectNumbers(trajectoryAdvantage, [0.5, -0.5, 0, 2, -1, 1], 1e-12);
    expect(warnings).toContain('groups without a generated token, judged against their plain mean: 1 of 3');
  });

  it('gives exactly 0 to a group that agrees, whatever the lengths', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), rated, (reward, group) => {
        const advantage = advantageOf(group.map(([, length]) => spoken('g', reward, length)));
        expect(advantage.every((a) => a === 0)).toBe(true);
      }),
    );
  });

  it('is Dr. GRPO where all lengths are equal', () => {
    fc.assert(
      fc.property(rated, fc.integer({ min: 1, max: 5 }), (group, length) => {
        const records = group.map(([reward]) => spoken('g', reward, length));
        expectNumbers(advantageOf(records), creditOf(grpo, records, { normalizeByStd: false }).values, 1e-9);
      }),
    );
  });

  it('sums to zero over the tokens of a group, sees no shift, keeps the scale', () => {
    const of = (group: [number, number][]) => advantageOf(group.map(([reward, length]) => spoken('g', reward, length)));
    fc.assert(
      fc.property(rated, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (group, shift, scale) => {
        const advantage = of(group);
        expect(group.reduce((sum, [, length], i) => sum + length * advantage[i], 0)).toBeCloseTo(0, 9);
        expectNumbers(of(group.map(([r, length]) => [scale * r + shift, length])), advantage.map((a) => scale * a), 1e-9); // prettier-ignore
        expectNumbers(of(group.map(([r, length]) => [r, scale * length])), advantage, 1e-9);
      }),
    );
  });
});
