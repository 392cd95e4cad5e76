import type { NumericValues } from '#lib/dataset';
import { allEqual, discountedSums, ownerOf, rowLengths } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const UniformRedistributionParams = z.strictObject({
  variant: z
    .enum(['divide', 'copy', 'ircr'])
    .default('divide')
    .describe("each turn gets an equal share, the whole outcome, or the outcome's place between the batch's extremes"),
  gamma: z.number().min(0).max(1).default(1).describe('discount of the return per turn'),
});

/**
 * The outcome on a scale from the worst trajectory of the batch to the best.
 *
 *     u[i] = (R[i] − min R) / (max R − min R)      all equal: 0, where the reference divides 0 by 0
 *
 * @param reward [trajectories]
 * @returns [trajectories]
 */
export function placeInBatch(reward: NumericValues): Float64Array {
  let min = Infinity;
  let max = -Infinity;
  for (const value of reward) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (allEqual(min, max)) return new Float64Array(reward.length);
  return Float64Array.from(reward, (value) => (value - min) / (max - min));
}

/**
 * The outcome spread evenly: what an estimator must beat to have said anything about single turns.
 *
 *     divide: q[t] = R / T      copy: q[t] = R      ircr: q[t] = (R − min R) / (max R − min R) over the batch
 *     G[t] = q[t] + γ · G[t+1]
 *
 * 'divide' alone keeps the sum: Σ q = R.
 */
export const uniformRedistribution = defineEstimator({
  id: 'uniform-redistribution',
  version: 1,
  title: 'Uniform redistribution (with IRCR)',
  citation: {
    code: 'Stilwell-Git/Randomized-Return-Decomposition:algorithm/replay_buffer/mujoco_buffer/ircr_buffer.py@bc80473',
  },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: UniformRedistributionParams,
  estimate({ turnOffsets }, columns, { variant, gamma }) {
    const reward = columns['trajectory.outcomeReward'];
    const turns = rowLengths(turnOffsets);
    const perTurn = variant === 'ircr' ? placeInBatch(reward) : reward;
    const level = 'turn';
    const values = Float64Array.from(ownerOf(turnOffsets), (i) =>
      variant === 'divide' ? reward[i] / turns[i] : perTurn[i],
    );
    const turnReturn = discountedSums(values, turnOffsets, gamma);
    return { level, values, explain: { turnReward: { level, values }, turnReturn: { level, values: turnReturn } } };
  },
});
