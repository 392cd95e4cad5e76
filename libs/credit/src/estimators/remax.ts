import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { rowsOfTrajectories } from '../level-rows.js';

const RemaxParams = z.strictObject({
  granularity: z
    .enum(['token', 'turn'])
    .default('token')
    .describe("a position is a generated token ('token') or a turn ('turn')"),
});

/**
 * ReMax: what is still to come, against the reward of a greedy rollout of the same prompt.
 *
 *     return[k] = Σ_{j ≥ k} r[j]              no discount, over the positions with mask 1
 *     A[k]      = return[k] − greedyReward
 *
 * The whole greedy reward is subtracted at every position. A position with mask 0 gets 0 and is not read.
 *
 * @param reward [positions]
 * @param greedyReward [trajectories]
 * @param offsets [trajectories + 1] into positions
 * @param mask [positions] null: all 1
 * @returns advantage and return [positions]
 */
export function remaxAdvantage(
  reward: NumericValues,
  greedyReward: NumericValues,
  offsets: Int32Array,
  mask: NumericValues | null,
) {
  const returns = discountedSums(reward, offsets, 1, mask);
  const baseline = repeatRows(greedyReward, offsets, mask);
  return { advantage: returns.map((value, k) => value - baseline[k]), returns };
}

/** A group has one prompt, so its greedy rollout has one reward. */
function differingBaselines(greedyReward: NumericValues, { groupOf, groupCount }: TrajectoryBatch): string[] {
  const { std } = segmentMoments(greedyReward, null, groupOf, groupCount);
  const differing = std.filter((spread) => spread !== 0).length;
  return differing > 0 ? [`groups whose trajectories differ in greedyReward: ${differing} of ${groupCount}`] : [];
}

export const remax = defineEstimator({
  id: 'remax',
  version: 1,
  title: 'Return less the greedy reward (ReMax)',
  citation: { paper: 'arXiv:2310.10505', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token', 'turn'],
  groupRelative: false,
  requires: ['trajectory.greedyReward'],
  accepts: [],
  conditional: [
    { when: { granularity: 'token' }, requires: ['token.reward'], accepts: ['token.mask'] },
    { when: { granularity: 'turn' }, requires: ['turn.reward'] },
  ],
  params: RemaxParams,
  estimate(trajectories, columns, { granularity: level }) {
    const isToken = level === 'token';
    const greedyReward = columns['trajectory.greedyReward'];
    const { advantage, returns } = remaxAdvantage(
      columns[isToken ? 'token.reward' : 'turn.reward'],
      greedyReward,
      rowsOfTrajectories(trajectories, level),
      columns['token.mask'] ?? null,
    );
    const explain = { [isToken ? 'tokenReturn' : 'turnReturn']: { level, values: returns } };
    return { level, values: advantage, explain, warnings: differingBaselines(greedyReward, trajectories) };
  },
});
