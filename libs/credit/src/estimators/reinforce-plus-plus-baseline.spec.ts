import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout, rollouts, spoken } from '../estimator.fixture.js';
import { reinforcePlusPlusBaseline } from './reinforce-plus-plus-baseline.js';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(reinforcePlusPlusBaseline, records, params).values;
const rated = fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: 1, max: 9 })), {
  minLength: 2,
  maxLength: 9,
});

// batch E of the methods: 2, 4, 6 and 3 tokens
const E = [spoken('g0', 1, 2), spoken('g0', 0, 1, 3), spoken('g0', 0, 2, 4), spoken('g1', 0.5, 3)];

describe('reinforce-plus-plus-baseline', () => {
  it('gives the numbers of its page', () => {
    // residuals 2/3, −1/3, −1/3, 0.5; over 15 tokens mean (4/3 − 4/3 − 2 + 1.5) / 15 = −1/30, std sqrt(2.733333 / 14)
    const { trajectoryAdvantage, columns } = estimateOf(reinforcePlusPlusBaseline, E);
    expectNumbers(columns.centeredReward, [2 / 3, -1 / 3, -1 / 3, 0.5], 1e-12);
    expectNumbers(trajectoryAdvantage, [1.584221, -0.678952, -0.678952, 1.207025]);
    expectNumbers(advantageOf(E, { whiten: false }), [2 / 3, -1 / 3, -1 / 3, 0.5], 1e-12);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expectNumbers(advantageOf(E, { whiten: false, singleton: 'zero' }), [2 / 3, -1 / 3, -1 / 3, 0], 1e-12);
  });

  it('is REINFORCE++ of what is left around the group means, written on every token', () => {
    fc.assert(
      fc.property(rated, rated, (g, h) => {
        const records = [...g.map(([r, n]) => spoken('g', r, n)), ...h.map(([r, n]) => spoken('h', r, n))];
        const centre = creditOf(reinforcePlusPlusBaseline, records, { whiten: false }).values;
        const written = records.map(({ group, turns }, i) => {
          const reward = (turns[0].tokens!.mask as number[]).map(() => centre[i]);
          return rollout(group, 0, [{ tokens: { reward } }]);
        });
        const { tokenAdvantage } = estimateOf(reinforcePlusPlusBaseline, records);
        expectNumbers(tokenAdvantage, creditOf(reinforcePlusPlus, written, { gamma: 0 }).values, 1e-5);
      }),
    );
  });

  it('has mean 0 and variance 1 over the tokens, sees no shift and no scale', () => {
    const of = (group: [number, number][]) =>
      creditOf(reinforcePlusPlusBaseline, group.map(([r, n]) => spoken('g', r, n)), { whitenEpsilon: 0 }).values; // prettier-ignore
    fc.assert(
      fc.property(rated, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (group, shift, scale) => {
        const advantage = of(group);
        const sum = (f: (a: number) => number) => group.reduce((total, [, n], i) => total + n * f(advantage[i]), 0);
        expect(sum((a) => a)).toBeCloseTo(0, 9);
        const tokens = sum(() => 1);
        if (advantage.some((a) => a !== 0)) expect(sum((a) => a * a) / (tokens - 1)).toBeCloseTo(1, 9);
        expectNumbers(of(group.map(([r, n]) => [scale * r + shift, n])), advantage, 1e-9);
      }),
    );
  });

  it('gives exactly 0 where every group agrees', () => {
    const records = [...[1, 2, 3].map((n) => spoken('g', 0.3, n)), spoken('h', 0.1, 4), spoken('h', 0.1, 5)];
    expect([...advantageOf(records)]).toEqual([0, 0, 0, 0, 0]);
  });

  it('takes a turn for a token where none is recorded, and says so', () => {
    const records = [rollout('g', 1, [{}, {}, {}]), rollout('g', 0, [{}])];
    const { trajectoryAdvantage, warnings } = estimateOf(reinforcePlusPlusBaseline, records);
    expectNumbers(trajectoryAdvantage, flat(advantageOf([spoken('g', 1, 3), spoken('g', 0, 1)])), 1e-12);
    expect(warnings).toEqual(['no token is recorded: each turn counts as one']);
  });

  it('gives 0 to a trajectory without a generated token, which does not count', () => {
    const observed = rollout('g', 9, [{ tokens: { mask: [0, 0] } }]);
    const { trajectoryAdvantage, warnings } = estimateOf(reinforcePlusPlusBaseline, [
      spoken('g', 1, 1),
      spoken('g', 2, 1),
      observed,
    ]);
    expectNumbers(trajectoryAdvantage, [-Math.SQRT1_2, Math.SQRT1_2, 0], 1e-6);
    expect(warnings).toEqual(['trajectories without a generated token get 0: 1 of 3']);
  });

  it('leaves a single token as it is and says so', () => {
    const { trajectoryAdvantage, warnings } = estimateOf(reinforcePlusPlusBaseline, [spoken('g', 2, 1)]);
    expect(trajectoryAdvantage).toEqual([2]);
    expect(warnings).toContain('not whitened: one of the tokens is all there is');
  });
});
