import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { rowLengths, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled } from '../group-scores.js';

const GrpoParams = z.strictObject({
  normalizeByStd: z.boolean().default(true).describe('false drops the division, as Dr. GRPO does (arXiv:2503.20783)'),
  epsilon: z
    .number()
    .nonnegative()
    .default(1e-6)
    .describe('added to the spread, so a group that nearly agrees does not explode'),
  statsAcross: z
    .enum(['trajectories', 'turns'])
    .default('trajectories')
    .describe("'turns' counts a trajectory once per turn, as verl-agent does: long rollouts weigh more"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero', as TRL)"),
});

/**
 * Group-relative outcome advantage: a trajectory is judged against its siblings.
 *
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      i in group g, std with ddof = 1
 *
 * A group of weight 1 has mean 0 and std 1, so it keeps R / (1 + ε), as in verl; TRL gives it 0. A trajectory of
 * weight 0 (no turn, where turns are the sample) gets 0.
 *
 * @param reward, weight [trajectories]
 * @returns the advantage, and the mean it was measured against [trajectories]
 */
export function grpoAdvantage(
  reward: NumericValues,
  weight: Float64Array,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  { normalizeByStd, epsilon, singleton }: z.infer<typeof GrpoParams>,
) {
  const group = segmentMoments(reward, weight, groupOf, groupCount);
  const centre = centred(reward, groupOf, group, singleton).map((value, i) => (weight[i] === 0 ? 0 : value));
  const groupMean = centre.map((value, i) => reward[i] - value);
  const advantage = normalizeByStd ? scaled(centre, groupOf, group, epsilon) : centre;
  return { advantage, groupMean };
}

export const grpo = defineEstimator({
  id: 'grpo',
  version: 1,
  title: 'Group-relative outcome advantage (GRPO, Dr. GRPO)',
  citation: { paper: 'arXiv:2402.03300', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: GrpoParams,
  estimate(trajectories, columns, params) {
    const turns = rowLengths(trajectories.turnOffsets);
    const weight = params.statsAcross === 'turns' ? turns : turns.fill(1);
    const { advantage, groupMean } = grpoAdvantage(columns['trajectory.outcomeReward'], weight, trajectories, params);
    const level = 'trajectory';
    return { level, values: advantage, explain: { groupMean: { level, values: groupMean } } };
  },
});
