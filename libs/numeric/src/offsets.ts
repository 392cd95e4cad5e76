import type { Numbers } from './numbers.js';
import { unsetDoubles } from './unset.js';

/**
 * Lengths of ragged rows, without the children that a mask leaves out.
 *
 *     length[i] = offsets[i + 1] − offsets[i]
 *
 * @param offsets [rows + 1]
 * @param mask [children] null: all 1
 * @returns [rows], a fresh array
 */
export function rowLengths(offsets: Int32Array, mask: Numbers | null = null): Float64Array {
  const lengths = new Float64Array(offsets.length - 1);
  for (let i = 0; i < lengths.length; i++) {
    lengths[i] = offsets[i + 1] - offsets[i];
    if (mask) for (let k = offsets[i]; k < offsets[i + 1]; k++) if (mask[k] === 0) lengths[i]--;
  }
  return lengths;
}

/**
 * The last child of each row that a mask lets through; -1 where there is none.
 *
 * @param offsets [rows + 1]
 * @param mask [children] null: all 1
 * @returns [rows]
 */
export function lastOfRows(offsets: Int32Array, mask: Numbers | null = null): Int32Array {
  const last = new Int32Array(offsets.length - 1);
  for (let i = 0; i < last.length; i++) {
    let k = offsets[i + 1] - 1;
    while (k >= offsets[i] && mask?.[k] === 0) k--;
    last[i] = k >= offsets[i] ? k : -1;
  }
  return last;
}

/**
 * Offsets of the grandchildren: trajectory → turn and turn → token give trajectory → token.
 *
 *     composed[i] = inner[outer[i]]
 *
 * @param outer [rows + 1] into the rows of `inner`
 * @param inner [children + 1]
 * @returns [rows + 1]
 */
export function composeOffsets(outer: Int32Array, inner: Int32Array): Int32Array {
  return outer.map((child) => inner[child]);
}

/**
 * The row that owns each child.
 *
 *     owner[k] = i      for offsets[i] ≤ k < offsets[i + 1]
 *
 * @param offsets [rows + 1]
 * @returns [children]
 */
export function ownerOf(offsets: Int32Array): Int32Array {
  const owner = new Int32Array(offsets[offsets.length - 1]);
  for (let i = 0; i + 1 < offsets.length; i++) owner.fill(i, offsets[i], offsets[i + 1]);
  return owner;
}

/**
 * Repeats each row's key on its children.
 *
 * @param keys [rows]
 * @param offsets [rows + 1]
 * @returns [children]
 */
export function repeatKeys(keys: Int32Array, offsets: Int32Array): Int32Array {
  const repeated = new Int32Array(offsets[keys.length]);
  for (let i = 0; i < keys.length; i++) repeated.fill(keys[i], offsets[i], offsets[i + 1]);
  return repeated;
}

/**
 * Repeats each row's value on its children; 0 on those that a mask leaves out.
 *
 * @param values [rows]
 * @param offsets [rows + 1]
 * @param mask [children] null: all 1
 * @returns [children]
 */
export function repeatRows(values: Numbers, offsets: Int32Array, mask: Numbers | null = null): Float64Array {
  const length = offsets[values.length];
  const repeated = offsets[0] === 0 ? unsetDoubles(length) : new Float64Array(length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const end = offsets[i + 1];
    for (let k = offsets[i]; k < end; k++) repeated[k] = value; // rows are short: calling fill costs more
  }
  if (mask) for (let k = 0; k < repeated.length; k++) if (mask[k] === 0) repeated[k] = 0;
  return repeated;
}

/**
 * Mean of each row's children, without those that a mask leaves out and those that say nothing (NaN).
 *
 * @param values [children]
 * @param offsets [rows + 1]
 * @param mask [children] null: all 1
 * @returns [rows] NaN where nothing is left, or the sum overflows
 */
export function rowMeans(values: Numbers, offsets: Int32Array, mask: Numbers | null = null): Float64Array {
  const means = new Float64Array(offsets.length - 1);
  for (let i = 0; i < means.length; i++) {
    let sum = 0;
    let count = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      if (mask?.[k] === 0 || Number.isNaN(values[k])) continue;
      sum += values[k];
      count++;
    }
    means[i] = Number.isFinite(sum) ? sum / count : NaN;
  }
  return means;
}

/**
 * Sum of each row's children.
 *
 *     sum[i] = Σ x[k]      offsets[i] ≤ k < offsets[i + 1]; 0 for an empty row
 *
 * @param values [children]
 * @param offsets [rows + 1]
 * @returns [rows]
 */
export function rowSums(values: Numbers, offsets: Int32Array): Float64Array {
  const sums = new Float64Array(offsets.length - 1);
  for (let i = 0; i < sums.length; i++) {
    const end = offsets[i + 1];
    let sum = 0;
    for (let k = offsets[i]; k < end; k++) sum += values[k];
    sums[i] = sum;
  }
  return sums;
}
