import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const PbrsParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(1).describe("discount per turn; must be the learner's own"),
  scale: z.number().default(1).describe('factor of the shaping reward'),
  terminalPotential: z
    .enum(['zero', 'keep'])
    .default('zero')
    .describe("potential after a true end: 0, which leaves the best policy the best, or 'keep', the final potential"),
});

/**
 * Potential after the last turn.
 *
 *     Φ[T] = 0 where the trajectory ended by itself (mode 'zero'), else finalPotential, else Φ[T−1]
 *
 * @param potential [turns]
 * @param finalPotential, truncated [trajectories]
 * @returns [trajectories] 0 for one without a turn
 */
export function potentialAfter(
  potential: NumericValues,
  { turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>,
  finalPotential: NumericValues | undefined,
  truncated: NumericValues | undefined,
  terminalPotential: 'zero' | 'keep',
): Float64Array {
  return Float64Array.from({ length: turnOffsets.length - 1 }, (_, i) => {
    const isCut = truncated?.[i] === 1;
    if (turnOffsets[i] === turnOffsets[i + 1] || (terminalPotential === 'zero' && !isCut)) return 0;
    const final = finalPotential?.[i] ?? NaN;
    return Number.isNaN(final) ? potential[turnOffsets[i + 1] - 1] : final;
  });
}

/**
 * Potential-based shaping: every turn is paid for the progress it made.
 *
 *     F[t]  = scale · (γ · Φ[t+1] − Φ[t])
 *     r'[t] = r[t] + F[t]
 *     Σ γ^t F[t] = scale · (γ^T · Φ[T] − Φ[0])      so a whole trajectory cannot earn more by wandering
 *
 * γ = 1, Φ[T] = 0 and equal Φ[0]: every return of the group is shifted alike, only step-level credit notices.
 */
export const pbrs = defineEstimator({
  id: 'pbrs',
  version: 1,
  title: 'Potential-based reward shaping (PBRS)',
  citation: { work: 'Ng, Harada, Russell: Policy invariance under reward transformations, ICML 1999' },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.potential', 'turn.reward'],
  accepts: ['trajectory.finalPotential', 'trajectory.truncated'],
  params: PbrsParams,
  estimate(trajectories, columns, { gamma, scale, terminalPotential }) {
    const { turnOffsets } = trajectories;
    const { 'turn.potential': potential, 'turn.reward': reward } = columns;
    const { 'trajectory.finalPotential': finalPotential, 'trajectory.truncated': truncated } = columns;
    const after = potentialAfter(potential, trajectories, finalPotential, truncated, terminalPotential);

    const shaping = new Float64Array(potential.length);
    for (let i = 0; i < after.length; i++) {
      const last = turnOffsets[i + 1] - 1;
      for (let t = turnOffsets[i]; t <= last; t++) {
        shaping[t] = scale * (gamma * (t === last ? after[i] : potential[t + 1]) - potential[t]);
      }
    }
    const level = 'turn';
    const values = shaping.map((bonus, t) => reward[t] + bonus);
    const sums = discountedSums(shaping, turnOffsets, gamma);
    const ofTrajectory = after.map((_, i) => (turnOffsets[i] < turnOffsets[i + 1] ? sums[turnOffsets[i]] : 0));
    return {
      level,
      values,
      explain: {
        shapingReward: { level, values: shaping },
        turnReward: { level, values },
        turnReturn: { level, values: discountedSums(values, turnOffsets, gamma) },
        discountedShapingSum: { level: 'trajectory', values: ofTrajectory },
      },
    };
  },
});
