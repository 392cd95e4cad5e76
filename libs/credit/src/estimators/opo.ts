import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { rowLengths, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, type Singleton } from '../group-scores.js';
import { rowsOfTrajectories } from '../level-rows.js';

const OpoParams = z.strictObject({
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * OPO: a trajectory is judged against its siblings, long ones counting more.
 *
 *     b_g  = Σ L[i] R[i] / Σ L[i]      over group g; L: generated tokens
 *     A[i] = R[i] − b_g
 *
 * No division by a spread. Equal lengths: the plain mean. A group without a generated token is judged against its plain
 * mean too (0 / 0 in the reference).
 *
 * @param reward, length [trajectories]
 * @returns [trajectories] the advantage, the baseline it was measured against; how many groups had no token
 */
export function opoAdvantage(
  reward: NumericValues,
  length: Float64Array,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  singleton: Singleton,
) {
  const group = segmentMoments(reward, null, groupOf, groupCount);
  const byLength = segmentMoments(reward, length, groupOf, groupCount);
  const mean = byLength.mean.map((value, g) => (byLength.weight[g] > 0 ? value : group.mean[g]));
  const advantage = centred(reward, groupOf, { ...group, mean }, singleton);
  const baseline = advantage.map((value, i) => reward[i] - value);
  const withoutToken = byLength.weight.filter((tokens, g) => tokens === 0 && group.weight[g] > 1).length;
  return { advantage, baseline, withoutToken };
}

export const opo = defineEstimator({
  id: 'opo',
  version: 1,
  title: 'Length-weighted group baseline (OPO)',
  citation: { paper: 'arXiv:2505.23585', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: ['token.mask'],
  params: OpoParams,
  estimate(trajectories, columns, { singleton }) {
    const length = rowLengths(rowsOfTrajectories(trajectories, 'token'), columns['token.mask'] ?? null);
    const reward = columns['trajectory.outcomeReward'];
    const { advantage, baseline, withoutToken } = opoAdvantage(reward, length, trajectories, singleton);
    const level = 'trajectory';
    const warning = `groups without a generated token, judged against their plain mean: ${withoutToken} of ${trajectories.groupCount}`;
    return {
      level,
      values: advantage,
      explain: { baseline: { level, values: baseline } },
      warnings: withoutToken > 0 ? [warning] : [],
    };
  },
});
