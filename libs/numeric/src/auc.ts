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
  const { order, endsTie } = sortedRows(score);
  let [wins, negative, positive, tiedNegative, tiedPositive] = [0, 0, 0, 0, 0];
  for (let i = 0; i < order.length; i++) {
    if (label[order[i]] > 0) tiedPositive++;
    else if (label[order[i]] < 0) tiedNegative++;
    if (!endsTie[i]) continue;
    wins += tiedPositive * (negative + tiedNegative / 2);
    positive += tiedPositive;
    negative += tiedNegative;
    tiedPositive = tiedNegative = 0;
  }
  return wins / (positive * negative);
}
