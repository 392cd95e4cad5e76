import type { TrajectoryBatch } from '#lib/dataset';
import type { Column } from './estimator.js';

/** A column as JSON has it: nested like the trajectories, null where nothing is said. */
export type Nested = number | string | null | readonly Nested[];

/**
 * A column in the shape of its trajectories: one value per trajectory, a list per trajectory for turns, a list of
 * lists for tokens; per group a list in order of first appearance; of the shard the value itself.
 */
export function nest({ turnOffsets, tokenOffsets }: TrajectoryBatch, column: Column): Nested {
  const row = rowReader(column);
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, k) => row(from + k));
  const lists = (offsets: Int32Array, at: (from: number, to: number) => Nested) =>
    Array.from({ length: offsets.length - 1 }, (_, i) => at(offsets[i], offsets[i + 1]));

  switch (column.level) {
    case 'shard':
      return row(0);
    case 'group':
    case 'trajectory':
      return rows(0, column.offsets ? column.offsets.length - 1 : column.values.length);
    case 'turn':
      return lists(turnOffsets, rows);
    case 'token':
      return lists(turnOffsets, (from, to) => lists(tokenOffsets.subarray(from, to + 1), rows));
  }
}

function rowReader({ values, offsets }: Column): (row: number) => Nested {
  const value = (k: number) => (Number.isNaN(values[k]) ? null : values[k]);
  if (!offsets) return value;
  return (row) => Array.from({ length: offsets[row + 1] - offsets[row] }, (_, k) => value(offsets[row] + k));
}
