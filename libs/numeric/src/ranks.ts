import type { Numbers } from './numbers.js';

/**
 * Ranks from 1; equal values share the mean of the ranks they cover.
 *
 *     [10, 20, 20, 30] → [1, 2.5, 2.5, 4]
 *
 * @param values [rows] no NaN
 * @returns [rows]
 */
export function averageRanks(values: Numbers): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Float64Array(values.length);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let k = from; k < to; k++) ranks[order[k]] = (from + 1 + to) / 2;
  }
  return ranks;
}
