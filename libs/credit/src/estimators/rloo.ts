import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, type Singleton } from '../group-scores.js';

const RlooParams = z.strictObject({
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', verl's loop version) or gets 0 ('zero', its vectorised one)"),
});

/**
 * Leave-one-out advantage: a trajectory is judged against the mean of its siblings, itself left out.
 *
 *     A[i] = R[i] − Σ_{j≠i} R[j] / (n − 1) = n / (n − 1) · (R[i] − mean_g R)      i in group g of n
 *
 * @param reward [trajectories]
 * @returns the advantage, and the baseline it was measured against [trajectories]
 */
export function rlooAdvantage(
  reward: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  singleton: Singleton,
) {
  const group = segmentMoments(reward, null, groupOf, groupCount);
  const advantage = centred(reward, groupOf, group, singleton).map((value, i) => {
    const n = group.weight[groupOf[i]];
    return n > 1 ? (n / (n - 1)) * value : value;
  });
  const baseline = advantage.map((value, i) => reward[i] - value);
  return { advantage, baseline };
}

export const rloo = defineEstimator({
  id: 'rloo',
  version: 1,
  title: 'Leave-one-out advantage (RLOO)',
  citation: { paper: 'arXiv:2402.14740', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: RlooParams,
  estimate(trajectories, columns, { singleton }) {
    const { advantage, baseline } = rlooAdvantage(columns['trajectory.outcomeReward'], trajectories, singleton);
    const level = 'trajectory';
    return { level, values: advantage, explain: { baseline: { level, values: baseline } } };
  },
});
