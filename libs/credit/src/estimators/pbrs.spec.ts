import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { pbrs } from './pbrs.js';

const turns = (...steps: [potential: number, reward: number][]) =>
  steps.map(([potential, reward]) => ({ reward, signals: { potential } }));
const trajectory = (signals: Record<string, number | boolean | null>, ...steps: [number, number][]) => ({
  ...rollout('g', 0, turns(...steps)),
  signals,
});

describe('pbrs', () => {
  it('pays progress', () => {
    const { columns } = estimateOf(pbrs, [rollout('g', 1, turns([0.2, 0], [0.5, 0], [0.9, 1]))], { gamma: 0.9 });
    expectNumbers(columns.shapingReward, [0.25, 0.31, -0.9], 1e-12);
    expectNumbers(columns.turnReturn, [0.61, 0.4, 0.1], 1e-12);
    expectNumbers(columns.discountedShapingSum, [-0.2], 1e-12);
  });

  it('keeps a final potential where asked, and where the trajectory was cut', () => {
    const last = (signals: Record<string, number | boolean | null>, params = {}) =>
      flat(estimateOf(pbrs, [trajectory(signals, [0.25, 0])], params).columns.shapingReward);
    expect(last({ finalPotential: 1 })).toEqual([-0.25]);
    expect(last({ finalPotential: 1, truncated: true })).toEqual([0.75]);
    expect(last({ finalPotential: 1, truncated: 1 })).toEqual([0.75]);
    expect(last({ finalPotential: 1 }, { terminalPotential: 'keep' })).toEqual([0.75]);
    expect(last({ finalPotential: null, truncated: true })).toEqual([0]);
    expect(last({}, { terminalPotential: 'keep' })).toEqual([0]);
  });

  it('is 0 throughout for a trajectory without turns', () => {
    const { columns } = estimateOf(pbrs, [trajectory({ finalPotential: 1 }), rollout('g', 0, turns([1, 0]))]);
    expect(columns.discountedShapingSum).toEqual([0, -1]);
  });

  it('adds up to what lies between the first potential and the last', () => {
    const step = fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.constant(0));
    const steps = fc.array(step, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        steps,
        fc.constantFrom(0.5, 0.9, 1),
        fc.double({ min: -1, max: 1, noNaN: true }),
        (all, gamma, end) => {
          const records = [trajectory({ finalPotential: end }, ...(all as [number, number][]))];
          const { columns } = estimateOf(pbrs, records, { gamma, scale: 2, terminalPotential: 'keep' });
          expectNumbers(columns.discountedShapingSum, [2 * (gamma ** all.length * end - all[0][0])], 1e-9);
        },
      ),
    );
  });

  it('leaves the rewards alone where the scale is 0', () => {
    const { columns } = estimateOf(pbrs, [rollout('g', 0, turns([0.3, 1], [0.7, 2]))], { scale: 0 });
    expect(columns.turnReward).toEqual([[1, 2]]);
  });
});
