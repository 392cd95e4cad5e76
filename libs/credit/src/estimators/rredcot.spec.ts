import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { rredcot } from './rredcot.js';

const segments = (outcome: number, utilities: number[], ...logprobs: number[][]) =>
  rollout('g', outcome, logprobs.map((candidateLogprobs) => ({ signals: { candidateLogprobs, candidateUtilities: utilities } }))); // prettier-ignore

/** The example of the methods: candidates right and wrong. */
const one = () => [segments(1, [1, 0], [-2, -1], [-1.5, -1.2], [-0.3, -2.5])];
const logprobs = fc.array(fc.tuple(fc.integer({ min: -9, max: 0 }), fc.integer({ min: -9, max: 0 })), {
  minLength: 1,
  maxLength: 5,
});

describe('rredcot', () => {
  it('gives the numbers of its page', () => {
    const { columns } = estimateOf(rredcot, one());
    expectNumbers(columns.prefixValue, [0.135335, 0.22313, 0.740818]);
    expectNumbers(columns.turnReward, [0.087795, 0.517688, 1 - 0.740818]);
  });

  it('telescopes: what turns are paid sums to the outcome less the first value', () => {
    fc.assert(
      fc.property(logprobs, fc.integer({ min: -2, max: 2 }), (drawn, outcome) => {
        const record = segments(outcome, [1, -0.5], ...drawn);
        const [first] = estimateOf(rredcot, [record]).columns.prefixValue as number[][];
        const sum = creditOf(rredcot, [record]).values.reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(outcome - first[0], 9);
      }),
    );
  });

  it('pays one turn with the rest, and none where the candidates are worth nothing but the outcome', () => {
    expectNumbers(creditOf(rredcot, [segments(1, [0.5], [0])]).values, [0.5], 1e-12);
    expectNumbers(creditOf(rredcot, [segments(1, [0], [-1], [-2])]).values, [0, 1], 1e-12);
  });

  it('says nothing of turns whose candidates and utilities do not match, and why', () => {
    const record = segments(1, [1, 0], [-2, -1], [-1], [-1, -1]);
    const outcome = runEstimator(rredcot, trajectoryBatch([record]));
    expect(outcome).toMatchObject({
      credit: { values: Float64Array.of(NaN, NaN, 1 - Math.exp(-1)) },
      warnings: ['no credit on 2 of 3 turn rows: candidateUtilities and candidateLogprobs differ in length on 1 turn'],
    });
  });
});
