import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { composeOffsets, ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { groupMembers } from '../group-members.js';

/** What a group's branches say about writing guidance: means of those that did and of those that abstained. */
interface Branches {
  readonly written: number;
  readonly abstained: number;
}

/** [trajectories] its group's branches; null where one of both sides is missing. */
function branchesOf(trajectories: TrajectoryBatch, reward: NumericValues, abstained: NumericValues) {
  const result: (Branches | null)[] = trajectories.ids.map(() => null);
  const mean = (rows: readonly number[]) => rows.reduce((sum, i) => sum + reward[i], 0) / rows.length;
  for (const members of groupMembers(trajectories)) {
    const without = members.filter((i) => abstained[i] === 1);
    const written = members.filter((i) => abstained[i] !== 1);
    if (without.length === 0 || written.length === 0) continue;
    const branches = { written: mean(written), abstained: mean(without) };
    for (const i of members) result[i] = branches;
  }
  return result;
}

/**
 * Mem-pi: whether to write guidance is judged against abstaining, what was written against the other branches.
 *
 *     b = mean reward of the branches that wrote, r0 = of those that abstained
 *     decision tokens: b − r0 where guidance was written, r0 − b where not
 *     content tokens:  r[j] − b, only where b > r0
 *
 * A group without both sides gets 0. Nothing is divided by a spread.
 */
export const memPi = defineEstimator({
  id: 'mem-pi',
  version: 1,
  title: 'On-demand memory (Mem-pi)',
  citation: { paper: 'arXiv:2605.21463' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.abstained', 'token.tokenRole'],
  accepts: ['token.mask'],
  kinds: { 'token.tokenRole': z.enum(['decision', 'content']) },
  params: z.strictObject({}),
  estimate(trajectories, columns) {
    const { 'trajectory.outcomeReward': reward, 'trajectory.abstained': abstained } = columns;
    const { 'token.tokenRole': role, 'token.mask': mask } = columns;
    const branches = branchesOf(trajectories, reward, abstained);
    const owner = ownerOf(composeOffsets(trajectories.turnOffsets, trajectories.tokenOffsets));
    const values = Float64Array.from(owner, (i, k) => {
      const group = branches[i];
      if (!group || mask?.[k] === 0) return 0;
      const gain = group.written - group.abstained;
      if (role[k] === 'decision') return abstained[i] === 1 ? -gain : gain;
      return abstained[i] !== 1 && gain > 0 ? reward[i] - group.written : 0;
    });
    const lonely = new Set(branches.flatMap((group, i) => (group ? [] : [trajectories.groupOf[i]]))).size;
    return {
      level: 'token',
      values,
      explain: { guidanceGain: { level: 'trajectory', values: Float64Array.from(branches, (group) => (group ? group.written - group.abstained : NaN)) } }, // prettier-ignore
      warnings:
        lonely === 0 ? [] : [`groups without both a branch that wrote and one that abstained: ${lonely}, which got 0`],
    };
  },
});
