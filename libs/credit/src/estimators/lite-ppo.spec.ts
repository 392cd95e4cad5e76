import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, expectNumbers, rollouts } from '../estimator.fixture.js';
import { litePpo } from './lite-ppo.js';

const advantageOf = (records: ReturnType<typeof rollouts>, params: object = {}) =>
  creditOf(litePpo, records, params).values;
const rewards = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 6 });

describe('lite-ppo', () => {
  it('centres by the group and scales by the batch', () => {
    // rewards 1, 0, 0, 0.5: mean 0.375, squares 0.390625 + 2 · 0.140625 + 0.015625 = 0.6875, std sqrt(0.6875 / 3)
    const records = [...rollouts('g0', 1, 0, 0), ...rollouts('g1', 0.5)];
    expectNumbers(advantageOf(records), [1.392618, -0.696309, -0.696309, 0]);
    // residuals 2/3, −1/3, −1/3, 0: squares 2/3, std sqrt(2/9) = 0.471405
    expectNumbers(advantageOf(records, { stdOf: 'centered' }), [1.414211, -0.707105, -0.707105, 0]);
  });

  it('gives 0 to a group of one and to a group that agrees, however small the spread of the batch', () => {
    const records = [...rollouts('one', 7), ...rollouts('agrees', 0.3, 0.3, 0.3), ...rollouts('h', 0, 1e-7)];
    const advantage = advantageOf(records, { stdOf: 'centered' });
    expect([...advantage.subarray(0, 4)]).toEqual([0, 0, 0, 0]);
    expect(advantage[5]).toBeGreaterThan(0);
  });

  it('gives 0 throughout where the batch agrees, and where it is one trajectory', () => {
    expect([...advantageOf([...rollouts('g', 0.1, 0.1), ...rollouts('h', 0.1)])]).toEqual([0, 0, 0]);
    expect([...advantageOf(rollouts('g', 5), { epsilon: 0 })]).toEqual([0]);
  });

  it('sums to zero in each group; centred, its mean square is 1 and no group shift shows', () => {
    fc.assert(
      fc.property(rewards, rewards, fc.integer({ min: -9, max: 9 }), (g, h, shift) => {
        const params = { stdOf: 'centered', epsilon: 0 };
        const advantage = advantageOf([...rollouts('g', ...g), ...rollouts('h', ...h)], params);
        const sum = (values: Float64Array) => values.reduce((total, a) => total + a, 0);
        expect(sum(advantage.subarray(0, g.length))).toBeCloseTo(0, 9);
        const squares = sum(advantage.map((a) => a * a));
        if (squares > 0) expect(squares / (advantage.length - 1)).toBeCloseTo(1, 9);
        const moved = [...rollouts('g', ...g.map((r) => r + shift)), ...rollouts('h', ...h)];
        expectNumbers(advantageOf(moved, params), advantage, 1e-9);
      }),
    );
  });
});
