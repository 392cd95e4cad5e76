import type { Numbers } from './numbers.js';

/** Pairs of rows that differ in truth, and how many of them the score puts in the same order. */
export interface Concordance {
  readonly pairs: number;
  /** right order 1, equal scores ½ */
  readonly right: number;
}

/** Below this many rows all pairs are looked at: about 1 ns each; above it a tree counts them in O(n log n). */
const BRUTE_FORCE_ROWS = 256;

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

function allPairs(x: Numbers, y: Numbers, from: number, to: number): Concordance {
  let pairs = 0;
  let right = 0;
  for (let a = from; a < to; a++) {
    if (!Number.isFinite(x[a]) || !Number.isFinite(y[a])) continue;
    for (let b = a + 1; b < to; b++) {
      if (y[a] === y[b] || !Number.isFinite(x[b]) || !Number.isFinite(y[b])) continue;
      pairs++;
      if (x[a] === x[b]) right += 0.5;
      else if (x[a] > x[b] === y[a] > y[b]) right++;
    }
  }
  return { pairs, right };
}

/** Rows enter a Fenwick tree over the scores in the order of the truth; each is compared with those of a lower truth. */
function byTree(x: Numbers, y: Numbers, from: number, to: number): Concordance {
  const rows: number[] = [];
  for (let i = from; i < to; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) rows.push(i);
  rows.sort((a, b) => y[a] - y[b]);
  const scores = [...new Set(rows.map((i) => x[i]))].sort((a, b) => a - b);
  const rankOf = new Map(scores.map((score, rank) => [score, rank + 1]));
  const tree = new Float64Array(scores.length + 1);

  let pairs = 0;
  let right = 0;
  for (let start = 0, end = 0; start < rows.length; start = end) {
    while (end < rows.length && y[rows[end]] === y[rows[start]]) end++;
    for (let i = start; i < end; i++) {
      const rank = rankOf.get(x[rows[i]])!;
      const [below, upTo] = [countUpTo(tree, rank - 1), countUpTo(tree, rank)];
      right += below + (upTo - below) / 2;
      pairs += start;
    }
    for (let i = start; i < end; i++) count(tree, rankOf.get(x[rows[i]])!);
  }
  return { pairs, right };
}

function count(tree: Float64Array, rank: number): void {
  for (let k = rank; k < tree.length; k += k & -k) tree[k]++;
}

function countUpTo(tree: Float64Array, rank: number): number {
  let total = 0;
  for (let k = rank; k > 0; k -= k & -k) total += tree[k];
  return total;
}
