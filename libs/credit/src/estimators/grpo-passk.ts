import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { scaled } from '../group-scores.js';

const GrpoPasskParams = z.strictObject({
  normalizeByStd: z.boolean().default(true).describe('divide the margin by the spread of the group'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread'),
  singleton: z
    .literal('zero')
    .default('zero')
    .describe('a group of one gets 0; no other choice, here so that one params object fits all group estimators'),
});

/**
 * Pass@k GRPO: only the best trajectory of a group is credited, by its margin over the second best.
 *
 *     A[first] = (R(1) − R(2)) / (std_g R + ε)      std with ddof = 1; without normalizeByStd no division
 *     A[other] = 0
 *
 * A tie at the top gives 0 to all, and so does a group of one (the reference raises an error). Not centred: all credit
 * is ≥ 0.
 *
 * @param reward [trajectories]
 * @returns the advantage [trajectories], the margin of each group's first, NaN for a group of one [groups]
 */
export function passkAdvantage(
  reward: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  { normalizeByStd, epsilon }: z.infer<typeof GrpoPasskParams>,
) {
  const { first, margin } = leaders(reward, groupOf, groupCount);
  const group = segmentMoments(reward, null, groupOf, groupCount);
  const advantage = new Float64Array(reward.length);
  // A spread of 0 is a group that agrees: the margin left there is rounding.
  for (let g = 0; g < groupCount; g++) if (group.weight[g] > 1 && group.std[g] !== 0) advantage[first[g]] = margin[g];
  return { advantage: normalizeByStd ? scaled(advantage, groupOf, group, epsilon) : advantage, margin };
}

/** [groups] the row of the best value, and by how much it is better than the second best. */
function leaders(values: NumericValues, groupOf: Int32Array, groupCount: number) {
  const first = new Int32Array(groupCount).fill(-1);
  const second = new Float64Array(groupCount).fill(NaN);
  values.forEach((value: number, i: number) => {
    const g = groupOf[i];
    if (first[g] < 0) first[g] = i;
    else if (value > values[first[g]]) {
      second[g] = values[first[g]];
      first[g] = i;
    } else if (!(value <= second[g])) second[g] = value;
  });
  return { first, margin: second.map((value, g) => values[first[g]] - value) };
}

export const grpoPassk = defineEstimator({
  id: 'grpo-passk',
  version: 1,
  title: 'Margin of the best over the second best (Pass@k GRPO)',
  citation: { paper: 'arXiv:2503.19595', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: GrpoPasskParams,
  estimate(trajectories, columns, params) {
    const { advantage, margin } = passkAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const alone = margin.filter(Number.isNaN).length;
    return {
      level: 'trajectory',
      values: advantage,
      explain: { margin: { level: 'group', values: margin } },
      warnings: alone > 0 ? [`groups of one have no second best and get 0: ${alone} of ${margin.length}`] : [],
    };
  },
});
