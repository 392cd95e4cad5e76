import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { repeatRows } from '#lib/numeric';
import { rowsOfTrajectories } from './level-rows.js';

/**
 * A trajectory's number on each of its generated tokens; 0 on the others.
 *
 * @param values [trajectories]
 * @param mask [tokens] not given: all 1
 * @returns [tokens]
 */
export function onTokens(
  values: Float64Array,
  trajectories: TrajectoryBatch,
  mask: NumericValues | undefined,
): Float64Array {
  return repeatRows(values, rowsOfTrajectories(trajectories, 'token'), mask ?? null);
}
