import type { TrajectoryBatch } from '#lib/dataset';
import type { Credit } from './estimator.js';
import { rowsOfTrajectories } from './level-rows.js';

/** How many groups of a single trajectory got any credit, with no sibling to compare it with. */
export function groupsOfOneWithCredit(trajectories: TrajectoryBatch, { level, values }: Credit): number {
  const size = new Int32Array(trajectories.groupCount);
  for (const group of trajectories.groupOf) size[group]++;
  const offsets = rowsOfTrajectories(trajectories, level);
  let count = 0;
  for (let i = 0; i < trajectories.groupOf.length; i++) {
    if (size[trajectories.groupOf[i]] !== 1) continue;
    const rows = values.subarray(offsets[i], offsets[i + 1]);
    if (rows.some((value) => value !== 0 && !Number.isNaN(value))) count++;
  }
  return count;
}
