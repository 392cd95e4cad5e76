import type { Numbers } from './numbers.js';

/**
 * The k candidates of highest score. Of equal scores at the edge the earlier candidates are taken.
 *
 * Costs one sort of the candidates' scores as plain numbers.
 *
 * @param scores [rows]
 * @param candidates row numbers, ascending, each at most once
 * @returns [min(k, candidates)] row numbers, ascending
 */
export function topRows(scores: Numbers, candidates: Int32Array, k: number): Int32Array {
  const count = Math.min(k, candidates.length);
  if (count <= 0) return new Int32Array(0);
  const sorted = Float64Array.from(candidates, (row) => scores[row]).sort();
  const least = sorted[sorted.length - count];
  let above = 0;
  for (const row of candidates) if (scores[row] > least) above++;
  let atTheEdge = count - above;
  return candidates.filter((row) => scores[row] > least || (scores[row] === least && atTheEdge-- > 0));
}

/**
 * The rows of which something holds.
 *
 * @param count of rows
 * @returns row numbers, ascending
 */
export function rowsWhere(count: number, holds: (row: number) => boolean): Int32Array {
  const rows = new Int32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) if (holds(row)) rows[found++] = row;
  return rows.slice(0, found);
}
