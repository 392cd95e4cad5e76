import type { TokenColumn } from './token-columns.js';

/** What the numbers of a turn's tokens span. */
export interface TokenRange {
  /** tokens that training takes and that have a number: all of the rest is of these */
  readonly counted: number;
  readonly low: number;
  readonly high: number;
  readonly mean: number;
}

/** @param mask 0: training leaves the token out; undefined: none is said to be */
export function tokenRange(values: TokenColumn, mask: TokenColumn | undefined): TokenRange | null {
  let [counted, sum, low, high] = [0, 0, Infinity, -Infinity];
  values.forEach((value, i) => {
    if (value === null || mask?.[i] === 0) return;
    counted++;
    sum += value;
    low = Math.min(low, value);
    high = Math.max(high, value);
  });
  return counted === 0 ? null : { counted, low, high, mean: sum / counted };
}
