import type { TrajectoryBatch } from '#lib/dataset';
import type { Credit } from './estimator.js';
import { rowsOfTrajectories } from './level-rows.js';

/** How many groups of a single trajectory got any credit, with no sibling to compare it with. */
export function groupsOfOneWithCredit(trajectories: TrajectoryBatch, { level, values }: Credit): number {
  const size = groupSizes(trajectories);
  const offsets = rowsOfTrajectories(trajectories, level);
  let count = 0;
  for (let i = 0; i < trajectories.groupOf.length; i++) {
    if (size[trajectories.groupOf[i]] !== 1) continue;
    const rows = values.subarray(offsets[i], offsets[i + 1]);
    if (rows.some((value) => value !== 0 && !Number.isNaN(value))) count++;
  }
  return count;
}

/** The warning that groups of one trajectory got 0, where the reference divides by nothing. */
export function unansweredGroupsOfOne(trajectories: TrajectoryBatch): string[] {
  const alone = groupSizes(trajectories).filter((size) => size === 1).length;
  if (alone === 0) return [];
  return [`groups of one trajectory, for which the reference is not defined: ${alone}, which got 0`];
}

function groupSizes({ groupOf, groupCount }: TrajectoryBatch): Int32Array {
  const size = new Int32Array(groupCount);
  for (const group of groupOf) size[group]++;
  return size;
}
