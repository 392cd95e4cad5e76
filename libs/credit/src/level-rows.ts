import type { Level, TrajectoryBatch } from '#lib/dataset';
import { composeOffsets } from '#lib/numeric';

/** [trajectories + 1] where each trajectory's rows of a level begin. */
export function rowsOfTrajectories({ turnOffsets, tokenOffsets }: TrajectoryBatch, level: Level): Int32Array {
  if (level === 'turn') return turnOffsets;
  if (level === 'token') return composeOffsets(turnOffsets, tokenOffsets);
  return Int32Array.from(turnOffsets, (_, row) => row);
}
