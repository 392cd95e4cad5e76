import type { Numbers } from './numbers.js';

/** Pairs of rows that differ in truth, and how many of them the score puts in the same order. */
export interface Concordance {
  readonly pairs: number;
  /** right order 1, equal scores ½ */
  readonly right: number;
}

/** Below this many rows all pairs are looked at: 2 to 3 ns each; above it a tree counts them in O(n log n). */
const BRUTE_FORCE_ROWS = 256;
/** Rows that are compared with one other at once: each row of the others is read once for all of them. */
const BLOCK = 4;

/**
 * Over the pairs of rows in [from, to) whose truths differ: how often the score orders them as the truth does.
 *
 *     right = Σ_{a < b, y_a ≠ y_b} ([sign(x_a − x_b) = sign(y_a − y_b)] + ½ [x_a = x_b])
 *
 * Rows where either is not finite take no part.
 *
 * @param x score [rows]
 * @param y truth [rows]
 */
export function concordance(x: Numbers, y: Numbers, from: number, to: number): Concordance {
  return to - from <= BRUTE_FORCE_ROWS ? allPairs(x, y, from, to) : byTree(x, y, from, to);
}

/** The rows of a short range where both are finite: found once, not once per pair. */
const PLACES = BRUTE_FORCE_ROWS + BLOCK;
const [scores, truths] = [new Float64Array(PLACES), new Float64Array(PLACES)];

/** Without branches that data decide: a wrong guess costs five comparisons. */
function allPairs(x: Numbers, y: Numbers, from: number, to: number): Concordance {
  let n = 0;
  let isFlat = true;
  let hasTies = false; // between neighbours, as labels nearly always have
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
    scores[n] = x[i];
    truths[n] = y[i];
    isFlat &&= x[i] === scores[0];
    hasTies ||= n > 0 && (x[i] === scores[n - 1] || y[i] === truths[n - 1]);
    n++;
  }
  if (isFlat) return allTied(n);
  return (hasTies ? null : byProducts(n)) ?? allCompared(n);
}

/**
 * By the sign of (x_a − x_b) (y_a − y_b), which is two comparisons less per pair. Null where a product has none: a tie
 * somewhere, or differences so small that they underflow.
 */
function byProducts(n: number): Concordance | null {
  scores.fill(NaN, n, n + BLOCK);
  let inside = 0;
  let outside = 0;
  for (let a = 0; a < n; a += BLOCK) {
    inside += signs(a, a, Math.min(a + BLOCK, n)); // each pair twice
    outside += signs(a, a + BLOCK, n);
  }
  const both = outside + inside / 2;
  const right = both & 0xffff;
  const wrong = both >>> 16;
  const pairs = (n * (n - 1)) / 2;
  return right + wrong === pairs ? { pairs, right } : null;
}

/** Of four rows against those in [from, to): how many products are above 0, and 2^16 times how many below. */
function signs(a: number, from: number, to: number): number {
  const x0 = scores[a];
  const x1 = scores[a + 1];
  const x2 = scores[a + 2];
  const x3 = scores[a + 3];
  const y0 = truths[a];
  const y1 = truths[a + 1];
  const y2 = truths[a + 2];
  const y3 = truths[a + 3];
  let sum = 0;
  for (let b = from; b < to; b++) {
    const score = scores[b];
    const truth = truths[b];
    const p0 = (x0 - score) * (y0 - truth);
    const p1 = (x1 - score) * (y1 - truth);
    const p2 = (x2 - score) * (y2 - truth);
    const p3 = (x3 - score) * (y3 - truth);
    const right = Number(p0 > 0) + Number(p1 > 0) + Number(p2 > 0) + Number(p3 > 0);
    const wrong = Number(p0 < 0) + Number(p1 < 0) + Number(p2 < 0) + Number(p3 < 0);
    sum += right + (wrong << 16);
  }
  return sum;
}

/** One score throughout, as an outcome gives it. */
function allTied(n: number): Concordance {
  let pairs = 0;
  for (let a = 0; a < n; a++) {
    const truth = truths[a];
    for (let b = a + 1; b < n; b++) pairs += Number(truth !== truths[b]);
  }
  return { pairs, right: pairs / 2 };
}

function allCompared(n: number): Concordance {
  let pairs = 0;
  let balance = 0; // right minus wrong
  for (let a = 0; a < n; a++) {
    const score = scores[a];
    const truth = truths[a];
    for (let b = a + 1; b < n; b++) {
      const byScore = Number(score > scores[b]) - Number(score < scores[b]);
      const byTruth = Number(truth > truths[b]) - Number(truth < truths[b]);
      pairs += byTruth & 1;
      balance += Math.imul(byScore, byTruth);
    }
  }
  return { pairs, right: (pairs + balance) / 2 };
}

/** Rows enter a Fenwick tree over the scores in the order of the truth; each is compared with those of a lower truth. */
function byTree(x: Numbers, y: Numbers, from: number, to: number): Concordance {
  const said = new Int32Array(to - from);
  let n = 0;
  for (let i = from; i < to; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) said[n++] = i;
  const rows = said.subarray(0, n).sort((a, b) => y[a] - y[b]);
  const scores = Float64Array.from(rows, (row) => x[row]).sort();
  const tree = new Float64Array(n + 1);

  let pairs = 0;
  let right = 0;
  for (let start = 0, end = 0; start < n; start = end) {
    while (end < n && y[rows[end]] === y[rows[start]]) end++;
    for (let i = start; i < end; i++) {
      const place = firstPlace(scores, x[rows[i]]);
      right += (countUpTo(tree, place) + countUpTo(tree, place + 1)) / 2;
      pairs += start;
    }
    for (let i = start; i < end; i++) count(tree, firstPlace(scores, x[rows[i]]) + 1);
  }
  return { pairs, right };
}

/** How many of the ascending values are below this one: where the first of its equals stands. */
function firstPlace(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function count(tree: Float64Array, rank: number): void {
  for (let k = rank; k < tree.length; k += k & -k) tree[k]++;
}

function countUpTo(tree: Float64Array, rank: number): number {
  let total = 0;
  for (let k = rank; k > 0; k -= k & -k) total += tree[k];
  return total;
}
