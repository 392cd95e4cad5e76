import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { trajectoryBatch } from '#lib/dataset';
import { spa } from './spa.js';

const turn = (contribution: number, grounded: boolean | number, valueEstimate?: number) => ({
  signals: { contribution, grounded, ...(valueEstimate !== undefined && { valueEstimate }) },
});
const released = { variant: 'released' };

describe('spa', () => {
  it('adds the bonus to the contributions', () => {
    const { columns, turnAdvantage } = estimateOf(spa, [
      rollout('g', 1, [turn(0.5, 1), turn(-0.1, 0), turn(0.7, true)]),
      rollout('g', 0, [turn(0.1, true), turn(0, false)]),
    ]);
    expectNumbers(columns.turnReward, [1, -0.1, 1.2, 0.6, 0], 1e-12);
    expectNumbers(turnAdvantage, [2.1, 1.1, 1.2, 0.6, 0], 1e-12);
    expectNumbers([columns.estimatorLoss], [0.01], 1e-12);
  });

  it('uses values only where every turn has one, and says when it does not', () => {
    const whole = [rollout('g', 1, [turn(0, 1, 0.5), turn(1, 0, 0.25)])];
    // δ = 0.5 + 0.25 − 0.5, 1 − 0.25; A = 0.25 + 0.5 · 0.75
    expectNumbers(creditOf(spa, whole, { lambda: 0.5 }).values, [0.625, 0.75], 1e-12);

    const partly = trajectoryBatch([rollout('g', 1, [turn(0, 1, 0.5), turn(1, 0)])]);
    const outcome = runEstimator(spa, partly);
    expect(outcome.kind === 'credit' && [...outcome.credit.values]).toEqual([1.5, 1]);
    expect(outcome.kind === 'credit' && outcome.warnings[0]).toMatch(/no valueEstimate on every turn/);
  });

  it('reduces to temporal differences at λ = 0, and to return minus value at λ = 1', () => {
    const records = [rollout('g', 1, [turn(0.3, 0, 0.2), turn(0.4, 0, 0.6)])];
    expectNumbers(creditOf(spa, records, { lambda: 0 }).values, [0.3 + 0.6 - 0.2, 0.4 - 0.6], 1e-12);
    expectNumbers(creditOf(spa, records, { lambda: 1 }).values, [0.7 - 0.2, 0.4 - 0.6], 1e-12);
  });

  it('pays the outcome against the others where it does what the script does', () => {
    const { columns } = estimateOf(
      spa,
      [rollout('g', 1, [turn(9, 1), turn(9, 0), turn(9, 1)]), rollout('g', 0, [turn(9, 1), turn(9, 0)])],
      released,
    );
    expect(columns.turnReward).toEqual([[1.5, 1, 1.5], [-0.5, -0.5]]); // prettier-ignore
    expect(columns.weightedReward).toEqual([[3, 1, 0], [-0.5, 0]]); // prettier-ignore
  });

  it('needs no contribution there, and keeps the outcome of a group of one', () => {
    const { columns } = estimateOf(spa, [rollout('g', 0.7, [{ signals: { grounded: 0 } }])], released);
    expect(columns.turnReward).toEqual([[1.2]]);
    expect(columns.weightedReward).toEqual([[0]]);
  });

  it('gives an agreeing group the bonus alone', () => {
    const records = [0.1, 0.1, 0.1].map((reward) => rollout('g', reward, [turn(0, 0), turn(0, 0)]));
    expect(estimateOf(spa, records, released).columns.turnReward).toEqual(records.map(() => [0, 0.5]));
  });
});
