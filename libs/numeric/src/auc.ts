import type { Numbers } from './numbers.js';

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
 * no positive or no negative row.
 *
 * @param score, label [rows]
 */
export function auc(score: Numbers, label: Numbers): number {
  const positives = scoresWhere(score, label, 1);
  const negatives = scoresWhere(score, label, -1);
  let [wins, below, upTo] = [0, 0, 0];
  for (let from = 0, to = 0; from < positives.length; from = to) {
    const value = positives[from];
    while (to < positives.length && positives[to] === value) to++;
    while (below < negatives.length && negatives[below] < value) below++;
    upTo = Math.max(upTo, below);
    while (upTo < negatives.length && negatives[upTo] === value) upTo++;
    wins += (to - from) * (below + (upTo - below) / 2);
  }
  return wins / (positives.length * negatives.length);
}

/** The finite scores whose label has this sign, ascending. */
function scoresWhere(score: Numbers, label: Numbers, sign: number): Float64Array {
  const found = new Float64Array(score.length);
  let count = 0;
  for (let i = 0; i < score.length; i++)
    if (label[i] * sign > 0 && Number.isFinite(score[i])) found[count++] = score[i];
  return found.subarray(0, count).sort();
}
