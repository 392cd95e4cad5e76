import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled } from '../group-scores.js';

const LitePpoParams = z.strictObject({
  stdOf: z
    .enum(['raw', 'centered'])
    .default('raw')
    .describe(
      "the batch's spread is that of the rewards (TRL) or of what is left around the group means (ROLL, AReaL)",
    ),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread; TRL uses 1e-4'),
  singleton: z
    .literal('zero')
    .default('zero')
    .describe('a group of one gets 0; no other choice, here so that one params object fits all group estimators'),
});

/**
 * Lite PPO's normalisation: centred by the group, scaled by the whole batch.
 *
 *     c[i] = R[i] − mean_g R
 *     A[i] = c[i] / (std + ε)      std over the batch of R or of c, ddof = 1
 *
 * A group that agrees, and a group of one, gives 0; a batch that agrees gives 0 throughout.
 *
 * @param reward [trajectories]
 * @returns the advantage, and the mean it was measured against [trajectories]
 */
export function litePpoAdvantage(
  reward: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  { stdOf, epsilon, singleton }: z.infer<typeof LitePpoParams>,
) {
  const centre = centred(reward, groupOf, segmentMoments(reward, null, groupOf, groupCount), singleton);
  const groupMean = centre.map((value, i) => reward[i] - value);
  const wholeBatch = new Int32Array(reward.length);
  const batch = segmentMoments(stdOf === 'raw' ? reward : centre, null, wholeBatch, 1);
  return { advantage: scaled(centre, wholeBatch, batch, epsilon), groupMean };
}

export const litePpo = defineEstimator({
  id: 'lite-ppo',
  version: 1,
  title: 'Group mean, batch spread (Lite PPO)',
  citation: { paper: 'arXiv:2508.08221', code: 'alibaba/ROLL:roll/utils/functionals.py@8eb27cc2' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: LitePpoParams,
  estimate(trajectories, columns, params) {
    const { advantage, groupMean } = litePpoAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const level = 'trajectory';
    return { level, values: advantage, explain: { groupMean: { level, values: groupMean } } };
  },
});
