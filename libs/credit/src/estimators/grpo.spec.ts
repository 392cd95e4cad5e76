import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout, rollouts } from '../estimator.fixture.js';
import { grpo } from './grpo.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(grpo, records, params).values;
const rewards = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 9 });
const agree = (values: readonly number[]) => values.every((value) => value === values[0]);

describe('grpo', () => {
  it('scores a trajectory against its siblings', () => {
    // mean 1/3, sample std sqrt(1/3) = 0.5773503
    expectNumbers(advantageOf(rollouts('g', 1, 0, 0), { epsilon: 0 }), [1.1547005, -0.5773503, -0.5773503]);
  });

  it('gives the numbers of its page', () => {
    // batch E of the methods: a group of 1, 0, 0 with 1, 2, 2 turns and a group of one with 0.5
    const records = [rollout('g0', 1), rollout('g0', 0, [{}, {}]), rollout('g0', 0, [{}, {}]), rollout('g1', 0.5)];
    expectNumbers(advantageOf(records), [1.154699, -0.577349, -0.577349, 0.5]);
    expectNumbers(advantageOf(records, { normalizeByStd: false }), [0.666667, -0.333333, -0.333333, 0.5]);
    expectNumbers(advantageOf(records, { statsAcross: 'turns' }), [1.78885, -0.447213, -0.447213, 0.5]);
    expectNumbers(advantageOf(records, { singleton: 'zero' }), [1.154699, -0.577349, -0.577349, 0]);
  });

  it('shows the mean it measured against', () => {
    expect(estimateOf(grpo, rollouts('g', 1, 0, 0, 1)).columns.groupMean).toEqual([0.5, 0.5, 0.5, 0.5]);
    expect(estimateOf(grpo, rollouts('g', 0.5)).columns.groupMean).toEqual([0]);
  });

  it('gives exactly 0 to a group that agrees: no rounding is divided by epsilon', () => {
    const reward = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(reward, fc.integer({ min: 2, max: 9 }), fc.boolean(), (r, size, normalizeByStd) => {
        const advantage = advantageOf(rollouts('g', ...Array.from({ length: size }, () => r)), { normalizeByStd });
        expect(advantage.every((a) => a === 0)).toBe(true);
      }),
    );
  });

  it('takes rewards that differ by rounding for equal', () => {
    expect([...advantageOf(rollouts('g', 0.1 + 0.2, 0.3))]).toEqual([0, 0]);
  });

  it('gives 0 to a trajectory that has no row in the sample', () => {
    const records = [rollout('g', 1, [{}]), rollout('g', 0, [{}]), rollout('g', 5, [])];
    expectNumbers(advantageOf(records, { statsAcross: 'turns', normalizeByStd: false }), [0.5, -0.5, 0], 0);
  });

  it('does not see a shift, and with the division no scale', () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (r, shift, scale) => {
        const moved = r.map((value) => scale * value + shift);
        const exact = { epsilon: 0 };
        expectNumbers(advantageOf(rollouts('g', ...moved), exact), advantageOf(rollouts('g', ...r), exact), 1e-9);
        const centred = advantageOf(rollouts('g', ...r), { normalizeByStd: false }).map((a) => scale * a);
        expectNumbers(advantageOf(rollouts('g', ...moved), { normalizeByStd: false }), centred, 1e-9);
      }),
    );
  });

  it('sums to zero in a group, with mean square 1 where it divides', () => {
    fc.assert(
      fc.property(rewards, (r) => {
        const advantage = advantageOf(rollouts('g', ...r), { epsilon: 0 });
        expect(advantage.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        const squares = advantage.reduce((sum, a) => sum + a * a, 0);
        expect(squares / (r.length - 1)).toBeCloseTo(agree(r) ? 0 : 1, 9);
      }),
    );
  });

  it('keeps groups apart', () => {
    fc.assert(
      fc.property(rewards, rewards, (g, h) => {
        const together = advantageOf([...rollouts('g', ...g), ...rollouts('h', ...h)]);
        expectNumbers(together, [...advantageOf(rollouts('g', ...g)), ...advantageOf(rollouts('h', ...h))], 0);
      }),
    );
  });

  it('counts a trajectory once per turn where turns are the sample', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 })), { minLength: 2 }),
        (rs) => {
          const asTurns = advantageOf(rs.map(([r, n]) => rollout('g', r, Array.from({ length: n }, () => ({})))), { statsAcross: 'turns' }); // prettier-ignore
          const repeated = advantageOf(rs.flatMap(([r, n]) => rollouts('g', ...Array.from({ length: n }, () => r))));
          const first = rs.map((_, i) => rs.slice(0, i).reduce((sum, [, n]) => sum + n, 0));
          expectNumbers(asTurns, first.map((at) => repeated[at]), 1e-9); // prettier-ignore
        },
      ),
    );
  });

  it('keeps the reward of a group of one, over one turn only where turns are the sample', () => {
    expectNumbers(advantageOf(rollouts('g', 0.5), { epsilon: 0 }), [0.5]);
    expectNumbers(advantageOf([rollout('g', 0.5, [{}, {}])], { statsAcross: 'turns' }), [0], 0);
    expectNumbers(advantageOf([rollout('g', 0.5, [])], { statsAcross: 'turns' }), [0], 0);
  });
});
