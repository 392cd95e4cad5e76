import { describe, expect, it } from 'vitest';
import { estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { dopaminePbrs } from './dopamine-pbrs.js';

const turn = (hop: number, forwardHop: number, backwardHop: number) => ({ signals: { hop, forwardHop, backwardHop } });

describe('dopamine-pbrs', () => {
  it('fuses three readings and pays what they moved', () => {
    const given = [rollout('g', 1, [turn(0.4, 0.38, -0.58), turn(-0.2, 0.3, -0.72), turn(1, 0.99, 0)])];
    const { columns } = estimateOf(dopaminePbrs, given);
    expectNumbers(columns.incrementalProgress, [0.4, 0.32, 1], 1e-12);
    expectNumbers(columns.fusedProgress, [0.4, 0.3, 2.99 / 3], 1e-12);
    expectNumbers(columns.turnReward, [0.396, -0.103, 1 + (0.99 * 2.99) / 3 - 0.3], 1e-12);
    expectNumbers(columns.conservativeProgress, [0.396, 0.3038, 0.9974], 1e-4);
  });

  it('agrees with itself where the readings agree', () => {
    // From 0 by half of what is left: 0.5, 0.75. Forward and backward say the same, so w = 1 and m is the progress.
    const given = [rollout('g', 1, [turn(0.5, 0.5, -0.5), turn(0.5, 0.75, -0.25)])];
    const { columns } = estimateOf(dopaminePbrs, given);
    expectNumbers(columns.fusedProgress, [0.5, 0.75], 1e-12);
    expectNumbers(columns.conservativeProgress, [0.5, 0.75], 1e-12);
    expect(columns.consistencyWeight).toEqual([[1, 1]]);
  });

  it('stays where it is when the readings contradict each other', () => {
    const given = [rollout('g', 1, [turn(0.5, 0.5, -0.5), turn(0.9, 1, -1)])];
    const { columns } = estimateOf(dopaminePbrs, given, { consistencyAlpha: 100, variant: 'conservative', gamma: 1 });
    expectNumbers(columns.conservativeProgress, [0.5, 0.5], 1e-12);
    expectNumbers(columns.turnReward, [0.5, 0], 1e-12);
  });

  it('adds up to the final potential at γ = 1, gold aside, for each trajectory from 0', () => {
    const one = [turn(0.5, 0.2, -0.9), turn(-0.3, 0.4, -0.5)];
    const { columns } = estimateOf(dopaminePbrs, [rollout('g', 1, one), rollout('g', 1, []), rollout('g', 1, one)], {
      gamma: 1,
    });
    const [first, none, second] = columns.turnReward as number[][];
    const [progress] = columns.fusedProgress as number[][];
    expect(first[0] + first[1]).toBeCloseTo(progress[1], 12);
    expect(none).toEqual([]);
    expect(second).toEqual(first);
  });

  it('pays gold from the margin on', () => {
    const { columns } = estimateOf(dopaminePbrs, [rollout('g', 1, [turn(0.95, 0.95, -0.05), turn(0, 0.9, -0.1)])]);
    expect(columns.goldReward).toEqual([[0, 0]]);
    const nearer = estimateOf(dopaminePbrs, [rollout('g', 1, [turn(0.96, 0.96, -0.04)])]);
    expect(nearer.columns.goldReward).toEqual([[1]]);
  });
});
