import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { trajectoryBatch } from '#lib/dataset';
import { mrt } from './mrt.js';

/** A rollout of blocks: success of stopping after each, tokens until then. */
const blocks = (outcome: number, initialSuccess: number, ...points: [success: number, tokens: number][]) => ({
  ...rollout('g', outcome, points.map(([successEstimate, cumulativeTokens]) => ({ signals: { successEstimate, cumulativeTokens } }))), // prettier-ignore
  signals: { initialSuccess, terminationReward: 0 },
});

/** The example of the methods. */
const one = () => [blocks(1, 0.125, [0.25, 400], [0.5, 900], [0.5, 1500], [1, 2200])];
const cutoffs = { cutoffs: [1000, 4000] };
const success = fc.integer({ min: 0, max: 8 }).map((n) => n / 8);

describe('mrt', () => {
  it('gives the numbers of its page', () => {
    const { columns } = estimateOf(mrt, one(), cutoffs);
    expect(columns.progress).toEqual([[0.125, 0.25, 0, 0.5]]);
    expect(columns.terminationAdvantage).toEqual([1]);
    expectNumbers(columns.normalizedArea, [0.2875, 0.715625], 1e-12);
    expectNumbers(columns.normalizedRegret, [0.7125, 0.284375], 1e-12);
  });

  it('gives progress per turn, or the termination advantage per trajectory', () => {
    expect([...creditOf(mrt, one()).values]).toEqual([0.125, 0.25, 0, 0.5]);
    expect(creditOf(mrt, one(), { granularity: 'trajectory' })).toMatchObject({
      level: 'trajectory',
      values: Float64Array.of(1),
    });
  });

  it('telescopes: progress sums to the last success less the first', () => {
    fc.assert(
      fc.property(success, fc.array(success, { minLength: 1, maxLength: 6 }), (initial, after) => {
        const record = blocks(1, initial, ...after.map((s, t): [number, number] => [s, 100 * (t + 1)]));
        const sum = creditOf(mrt, [record]).values.reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(after[after.length - 1] - initial, 12);
      }),
    );
  });

  it('has area and regret that make 1, and an area no larger than the best success', () => {
    fc.assert(
      fc.property(fc.array(success, { maxLength: 5 }), fc.integer({ min: 1, max: 900 }), (after, cutoff) => {
        const record = blocks(0, 0, ...after.map((s, t): [number, number] => [s, 100 * (t + 1)]));
        const { columns } = estimateOf(mrt, [record], { cutoffs: [cutoff] });
        const [[area]] = columns.normalizedArea as number[][];
        const [[regret]] = columns.normalizedRegret as number[][];
        expect(area + regret).toBeCloseTo(1, 12);
        expect(area).toBeGreaterThanOrEqual(0);
        expect(area).toBeLessThanOrEqual(Math.max(0, ...after) + 1e-12);
      }),
    );
  });

  it('takes the success at a budget that falls on a block', () => {
    const { columns } = estimateOf(mrt, [blocks(0, 0, [1, 10], [0, 20])], { cutoffs: [10, 20] });
    expectNumbers(columns.normalizedArea, [0.5, 0.5], 1e-12);
  });

  it('has an area of 0 for a trajectory without a turn, and none without budgets', () => {
    expect(estimateOf(mrt, [blocks(1, 0)], cutoffs).columns.normalizedArea).toEqual([[0, 0]]);
    expect(estimateOf(mrt, one(), { cutoffs: [] }).columns.normalizedArea).toEqual([[]]);
  });

  it('warns where tokens do not rise', () => {
    const outcome = runEstimator(mrt, trajectoryBatch([blocks(1, 0, [0.5, 20], [1, 10])]));
    expect(outcome).toMatchObject({
      warnings: ['cumulativeTokens does not rise on 1 turn: its area means nothing'],
    });
  });
});
