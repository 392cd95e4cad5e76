import type { Numbers } from './numbers.js';

/**
 * A quantile with linear interpolation between the two nearest values (numpy's default, Hyndman and Fan's type 7).
 *
 *     h = (n − 1) q,  quantile = x[⌊h⌋] + (h − ⌊h⌋)(x[⌈h⌉] − x[⌊h⌋])
 *
 * q = 0: the least, q = 0.5: the median, q = 1: the greatest. NaN for no values.
 *
 * @param sorted [rows] ascending, no NaN
 */
export function quantileOfSorted(sorted: Numbers, q: number): number {
  if (sorted.length === 0) return NaN;
  const h = (sorted.length - 1) * q;
  const low = sorted[Math.floor(h)];
  return low + (h - Math.floor(h)) * (sorted[Math.ceil(h)] - low);
}

/**
 * Several quantiles of one column, as quantileOfSorted; what says nothing (NaN) is left out.
 *
 * @param values [rows] in any order
 * @param qs between 0 and 1
 */
export function quantiles(values: Numbers, qs: readonly number[]): number[] {
  const sorted = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
  return qs.map((q) => quantileOfSorted(sorted, q));
}
