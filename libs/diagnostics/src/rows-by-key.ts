import { scratchInts } from '#lib/numeric';
import { turnsByLabel } from './visits.js';

/** The rows of each key, as ragged rows: those of list l are `rows[offsets[l] .. offsets[l + 1] - 1]`, ascending. */
export interface RowsByKey {
  /** [lists] in order of first appearance */
  readonly keys: readonly number[];
  /** [lists + 1] */
  readonly offsets: Int32Array;
  readonly rows: Int32Array;
}

const labelsOf = scratchInts();

/** @param keys [rows] any integers; a key is looked up where it is not that of the row before, as most are */
export function rowsByKey(keys: Int32Array): RowsByKey {
  const labelOf = new Map<number, number>();
  const labels = labelsOf(keys.length);
  let label = -1;
  for (let row = 0; row < keys.length; row++) {
    if (row === 0 || keys[row] !== keys[row - 1]) {
      label = labelOf.get(keys[row]) ?? labelOf.size;
      if (label === labelOf.size) labelOf.set(keys[row], label);
    }
    labels[row] = label;
  }
  const { offsets, turns } = turnsByLabel(labels, labelOf.size);
  return { keys: [...labelOf.keys()], offsets, rows: turns };
}
