import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred } from '../group-scores.js';

const GpgParams = z.strictObject({
  fNorm: z.number().positive().default(1).describe('divides every advantage'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * GPG: centred by the group, enlarged by the share of the batch that was rewarded at all.
 *
 *     α    = N / max(1, #{i: R[i] ≠ 0})      over the batch of N trajectories
 *     A[i] = α · (R[i] − mean_g R) / F
 *
 * The count is of rewards that are not 0, negative ones too, and not of advantages that are not 0.
 *
 * @param reward [trajectories]
 * @returns the advantage and the mean it was measured against [trajectories], and α
 */
export function gpgAdvantage(
  reward: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  { fNorm, singleton }: z.infer<typeof GpgParams>,
) {
  const centre = centred(reward, groupOf, segmentMoments(reward, null, groupOf, groupCount), singleton);
  const groupMean = centre.map((value, i) => reward[i] - value);
  let rewarded = 0;
  for (const value of reward) if (value !== 0) rewarded++;
  const alpha = reward.length / Math.max(1, rewarded);
  return { advantage: centre.map((value) => (alpha * value) / fNorm), groupMean, alpha };
}

export const gpg = defineEstimator({
  id: 'gpg',
  version: 1,
  title: 'Centred reward, scaled by the share rewarded (GPG)',
  citation: { paper: 'arXiv:2504.02546', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: GpgParams,
  estimate(trajectories, columns, params) {
    const { advantage, groupMean, alpha } = gpgAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const level = 'trajectory';
    return {
      level,
      values: advantage,
      explain: {
        groupMean: { level, values: groupMean },
        alpha: { level: 'shard', values: Float64Array.of(alpha) },
      },
    };
  },
});
