import type { Numbers } from './numbers.js';

/** With fewer rows the whole is reordered; with more, first those near the place are gathered. */
const MANY = 1 << 16;
const SAMPLE = 1 << 14;
/** Standard deviations of the sample's rank that the bracket spans to either side. */
const WIDTH = 4;

/**
 * The values that a sort would put at the places `n` and `n + 1`, without the sort: linear time, and of many rows a single
 * pass over most of them. NaN beyond the end.
 *
 * A sorted sample brackets the place; only what lies in the bracket is looked at closely. Where the bracket misses, all
 * rows are.
 *
 * Source: Floyd and Rivest (1975); Hoare's quickselect inside.
 *
 * @param values [rows] no NaN
 * @param n from 0
 */
export function selectPair(values: Numbers, n: number): readonly [number, number] {
  if (values.length >= MANY) {
    const [low, high] = bracket(values, n);
    const { below, inside } = gather(values, low, high);
    if (n >= below && n + 1 < below + inside.length) return pairInPlace(inside, n - below);
  }
  return pairInPlace(values.slice(), n);
}

/**
 * Quantiles as quantileOfSorted gives them, in linear time.
 *
 * @param values [rows] no NaN
 * @param qs between 0 and 1
 * @returns [qs] NaN for no values
 */
export function selectQuantiles(values: Numbers, qs: readonly number[]): number[] {
  return qs.map((q) => {
    if (values.length === 0) return NaN;
    const h = (values.length - 1) * q;
    const below = Math.floor(h);
    const [low, high] = selectPair(values, below);
    return h > below ? low + (h - below) * (high - low) : low;
  });
}

/** Two values between which the place very likely lies. */
function bracket(values: Numbers, n: number): readonly [number, number] {
  const stride = values.length / SAMPLE;
  const sample = Float64Array.from({ length: SAMPLE }, (_, i) => values[Math.floor((i + 0.5) * stride)]).sort();
  const share = n / values.length;
  const margin = WIDTH * Math.sqrt(SAMPLE * share * (1 - share)) + WIDTH;
  const [from, to] = [Math.floor(share * SAMPLE - margin), Math.ceil(share * SAMPLE + margin)];
  return [from < 0 ? -Infinity : sample[from], to >= SAMPLE ? Infinity : sample[to]];
}

/** How many values are smaller than `low`, and those from there to `high`. */
function gather(values: Numbers, low: number, high: number) {
  let [below, upTo] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    below += Number(values[i] < low);
    upTo += Number(values[i] <= high);
  }
  const inside = new Float64Array(upTo - below);
  let at = 0;
  for (let i = 0; i < values.length; i++) if (values[i] >= low && values[i] <= high) inside[at++] = values[i];
  return { below, inside };
}

/** @param values reordered */
function pairInPlace(values: Numbers, n: number): readonly [number, number] {
  if (n >= values.length) return [NaN, NaN];
  const nth = partition(values, n);
  let next = n + 1 < values.length ? Infinity : NaN;
  for (let i = n + 1; i < values.length; i++) if (values[i] < next) next = values[i];
  return [nth, next];
}

/** Puts the n-th smallest in its place, nothing greater before it and nothing smaller after it. The pivot: the median of three. */
function partition(values: Numbers, n: number): number {
  let [left, right] = [0, values.length - 1];
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

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
