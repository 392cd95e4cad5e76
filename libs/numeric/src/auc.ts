import type { Numbers } from './numbers.js';
import { unsetDoubles } from './unset.js';

/** The finite rows of a column in ascending order, equal values side by side. */
export interface SortedRows {
  /** [finite rows] ascending by value, equal values by row */
  readonly order: Int32Array;
  /** [finite rows] 1 where the run of equal values ends */
  readonly endsTie: Uint8Array;
}

/**
 * Puts the finite rows of a column in order once, so that any number of weightings is one walk each.
 *
 * @param values [rows]
 */
export function sortedRows(values: Numbers): SortedRows {
  let said = 0;
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) said++;
  const order = new Int32Array(said);
  for (let i = 0, at = 0; i < values.length; i++) if (Number.isFinite(values[i])) order[at++] = i;
  order.sort((a, b) => values[a] - values[b] || a - b);

  const endsTie = new Uint8Array(said);
  for (let i = 0; i < said; i++) endsTie[i] = i + 1 === said || values[order[i]] !== values[order[i + 1]] ? 1 : 0;
  return { order, endsTie };
}

/**
 * Area under the ROC curve: how likely a positive row scores above a negative one, a tie counting half.
 *
 *     AUC = Σ_{p,q} ([s_p > s_q] + ½ [s_p = s_q]) / (P · N)      label_p > 0, label_q < 0
 *
 * ½ is chance, 1 a perfect order. Rows with label 0 or without a score or a label take no part. NaN where there is
 * no positive or no negative row. Counts are halves of integers, so in whatever order they are added the sum is exact:
 * scores that are spread, or few different ones, are counted in buckets, and only others are sorted.
 *
 * @param score, label [rows]
 */
export function auc(score: Numbers, label: Numbers): number {
  const positives = scoresWhere(score, label, 1);
  const negatives = scoresWhere(score, label, -1);
  const buckets = inBuckets(negatives);
  const wins = buckets ? winsByBucket(positives, buckets) : winsInOrder(positives.sort(), negatives.sort());
  return wins / (positives.length * negatives.length);
}

/** The finite scores whose label has this sign. */
function scoresWhere(score: Numbers, label: Numbers, sign: number): Float64Array {
  const found = unsetDoubles(score.length);
  let count = 0;
  for (let i = 0; i < score.length; i++)
    if (label[i] * sign > 0 && Number.isFinite(score[i])) found[count++] = score[i];
  return found.subarray(0, count);
}

/** @param positives, negatives ascending */
function winsInOrder(positives: Float64Array, negatives: Float64Array): number {
  let [wins, below, upTo] = [0, 0, 0];
  for (let from = 0, to = 0; from < positives.length; from = to) {
    const value = positives[from];
    while (to < positives.length && positives[to] === value) to++;
    while (below < negatives.length && negatives[below] < value) below++;
    upTo = Math.max(upTo, below);
    while (upTo < negatives.length && negatives[upTo] === value) upTo++;
    wins += (to - from) * (below + (upTo - below) / 2);
  }
  return wins;
}

/** Each score of a bucket with more than this many would be looked at too often: they have to be equal. */
const FEW = 16;

/** Scores in as many buckets of equal width as there are of them, the lower bucket first. */
interface Buckets {
  readonly least: number;
  readonly greatest: number;
  /** buckets in a difference of 1: a greater score never lies in a lower bucket. 0: all lie in the first */
  readonly scale: number;
  /** [buckets + 1] */
  readonly starts: Int32Array;
  /** [scores] bucket after bucket */
  readonly scores: Float64Array;
}

/** null: a bucket has too many that differ */
function inBuckets(values: Float64Array): Buckets | null {
  const count = values.length;
  let [least, greatest] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > greatest) greatest = values[i];
  }
  const width = (count - 1) / (greatest - least);
  const scale = Number.isFinite(width) ? width : 0;

  const starts = new Int32Array(count + 2); // where a bucket is filled up to is where the next one starts
  for (let i = 0; i < count; i++) starts[bucketOf(values[i], least, scale) + 2]++;
  for (let b = 2; b < starts.length; b++) starts[b] += starts[b - 1];
  const scores = unsetDoubles(count);
  for (let i = 0; i < count; i++) scores[starts[bucketOf(values[i], least, scale) + 1]++] = values[i];
  for (let b = 0; b < count; b++) {
    if (starts[b + 1] - starts[b] > FEW && !areEqual(scores, starts[b], starts[b + 1])) return null;
  }
  return { least, greatest, scale, starts, scores };
}

/** Where nothing can be told, because a difference overflows, it is the first. */
const bucketOf = (value: number, least: number, scale: number) => ((value - least) * scale) | 0;

function areEqual(values: Float64Array, from: number, to: number): boolean {
  for (let k = from + 1; k < to; k++) if (values[k] !== values[from]) return false;
  return true;
}

function winsByBucket(positives: Float64Array, { least, greatest, scale, starts, scores }: Buckets): number {
  let twice = 0;
  for (let i = 0; i < positives.length; i++) {
    const value = positives[i];
    if (value > greatest) twice += 2 * scores.length;
    if (!(value >= least && value <= greatest)) continue;
    const bucket = bucketOf(value, least, scale);
    const from = starts[bucket];
    const to = starts[bucket + 1];
    const each = to - from > FEW ? to - from : 1; // equal ones are looked at once
    twice += 2 * from;
    for (let k = from; k < to; k += each) twice += each * (Number(scores[k] < value) + Number(scores[k] <= value));
  }
  return twice / 2;
}
