import type { Numbers } from './numbers.js';
import { scratchDoubles, scratchInts } from './scratch.js';

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

const positivesOf = scratchDoubles();
const negativesOf = scratchDoubles();

/**
 * Area under the ROC curve: how likely a positive row scores above a negative one, a tie counting half.
 *
 *     AUC = Σ_{p,q} ([s_p > s_q] + ½ [s_p = s_q]) / (P · N)      label_p > 0, label_q < 0
 *
 * ½ is chance, 1 a perfect order. Rows with label 0 or without a score or a label take no part. NaN where there is
 * no positive or no negative row.
 *
 * @param score, label [rows]
 */
export function auc(score: Numbers, label: Numbers): number {
  const rows = score.length;
  const positives = positivesOf(rows);
  const negatives = negativesOf(rows);
  let p = 0;
  let n = 0;
  for (let i = 0; i < rows; i++) {
    const value = score[i];
    if (!Number.isFinite(value)) continue;
    // written to both sides, and kept where it belongs: no label can be guessed
    positives[p] = value;
    negatives[n] = value;
    p += Number(label[i] > 0);
    n += Number(label[i] < 0);
  }
  return aucOfSides(positives.subarray(0, p), negatives.subarray(0, n));
}

/**
 * The same of rows that are told apart already. Counts are halves of integers, so in whatever order they are added the sum
 * is exact: scores that are spread, or few different ones, are counted in buckets, and only others are sorted.
 *
 * @param positives, negatives finite scores; reordered
 */
export function aucOfSides(positives: Float64Array, negatives: Float64Array): number {
  const buckets = inBuckets(negatives);
  const wins = buckets ? winsByBucket(positives, buckets) : winsInOrder(positives.sort(), negatives.sort());
  return wins / (positives.length * negatives.length);
}

/** @param positives, negatives ascending */
function winsInOrder(positives: Float64Array, negatives: Float64Array): number {
  let wins = 0;
  let below = 0;
  let upTo = 0;
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
/** As many are always looked at, though they be of later buckets: how many a bucket has cannot be guessed. */
const LOOKED_AT = 3;

/** Scores in as many buckets of equal width as there are of them, the lower bucket first. */
interface Buckets {
  readonly least: number;
  readonly greatest: number;
  /** buckets in a difference of 1: a greater score never lies in a lower bucket. 0: all lie in the first */
  readonly scale: number;
  /** [buckets + 1] */
  readonly starts: Int32Array;
  /** [scores + LOOKED_AT] bucket after bucket, then Infinity */
  readonly scores: Float64Array;
  readonly count: number;
}

const startsOf = scratchInts();
const scoresOf = scratchDoubles();

/** null: a bucket has too many that differ */
function inBuckets(values: Float64Array): Buckets | null {
  const count = values.length;
  let least = Infinity;
  let greatest = -Infinity;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  const width = (count - 1) / (greatest - least);
  const scale = Number.isFinite(width) ? width : 0;

  const starts = startsOf(count + 2).fill(0); // where a bucket is filled up to is where the next one starts
  for (let i = 0; i < count; i++) starts[bucketOf(values[i], least, scale) + 2]++;
  let most = 0;
  let before = 0;
  for (let b = 2; b < count + 2; b++) {
    const size = starts[b];
    if (size > most) most = size;
    before += size;
    starts[b] = before;
  }
  const scores = scoresOf(count + LOOKED_AT).fill(Infinity, count);
  for (let i = 0; i < count; i++) scores[starts[bucketOf(values[i], least, scale) + 1]++] = values[i];
  return most <= FEW || areAlike(scores, starts, count) ? { least, greatest, scale, starts, scores, count } : null;
}

/** Where nothing can be told, because a difference overflows, it is the first. */
const bucketOf = (value: number, least: number, scale: number) => ((value - least) * scale) | 0;

/** Whether the scores of each bucket with more than a few are equal. */
function areAlike(scores: Float64Array, starts: Int32Array, count: number): boolean {
  for (let b = 0; b < count; b++) {
    if (starts[b + 1] - starts[b] > FEW && !areEqual(scores, starts[b], starts[b + 1])) return false;
  }
  return true;
}

function areEqual(values: Float64Array, from: number, to: number): boolean {
  for (let k = from + 1; k < to; k++) if (values[k] !== values[from]) return false;
  return true;
}

function winsByBucket(positives: Float64Array, { least, greatest, scale, starts, scores, count }: Buckets): number {
  let above = 0;
  let twice = 0;
  for (let i = 0; i < positives.length; i++) {
    const value = positives[i];
    if (!(value >= least && value <= greatest)) {
      above += Number(value > greatest);
      continue;
    }
    const bucket = bucketOf(value, least, scale);
    const from = starts[bucket];
    const size = starts[bucket + 1] - from;
    if (size > LOOKED_AT) {
      twice += 2 * from + againstAll(value, scores, from, size);
    } else {
      // a score of a later bucket is greater and adds nothing
      twice += 2 * from + against(value, scores[from]) + against(value, scores[from + 1]) + against(value, scores[from + 2]); // prettier-ignore
    }
  }
  return above * count + twice / 2;
}

/** Twice what it wins. */
const against = (value: number, score: number) => Number(score < value) + Number(score <= value);

function againstAll(value: number, scores: Float64Array, from: number, size: number): number {
  if (size > FEW) return size * against(value, scores[from]); // they are equal
  let twice = 0;
  for (let k = from; k < from + size; k++) twice += against(value, scores[k]);
  return twice;
}
