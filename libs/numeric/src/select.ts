import type { Numbers } from './numbers.js';

/**
 * The value that a sort would put at place `n`, without the sort: linear time. Reorders `values` between `from` and the
 * end, so that nothing before place n is greater and nothing after it smaller.
 *
 * Source: Hoare's quickselect, the pivot the median of three.
 *
 * @param values [rows] no NaN; reordered
 * @param n from 0
 * @param from what stands before it is known to be no greater
 */
export function selectNth(values: Numbers, n: number, from = 0): number {
  let [left, right] = [from, values.length - 1];
  while (left < right) {
    const pivot = medianOfThree(values[left], values[(left + right) >> 1], values[right]);
    let [i, j] = [left, right];
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const value = values[i];
      values[i++] = values[j];
      values[j--] = value;
    }
    if (n <= j) right = j;
    else if (n >= i) left = i;
    else break;
  }
  return values[n];
}

/**
 * Quantiles as quantileOfSorted gives them, in linear time.
 *
 * @param values [rows] no NaN; reordered
 * @param qs between 0 and 1, in any order
 * @returns [qs] NaN for no values
 */
export function selectQuantiles(values: Numbers, qs: readonly number[]): number[] {
  const ascending = [...new Set(qs)].sort((a, b) => a - b);
  const found = new Map<number, number>();
  let from = 0;
  for (const q of ascending) {
    const h = (values.length - 1) * q;
    const below = Math.floor(h);
    const low = values.length === 0 ? NaN : selectNth(values, below, from);
    const high = h > below ? leastFrom(values, below + 1) : low;
    found.set(q, low + (h - below) * (high - low));
    from = below;
  }
  return qs.map((q) => found.get(q)!);
}

function leastFrom(values: Numbers, from: number): number {
  let least = Infinity;
  for (let i = from; i < values.length; i++) if (values[i] < least) least = values[i];
  return least;
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
