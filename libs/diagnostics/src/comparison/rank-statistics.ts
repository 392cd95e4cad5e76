import { sortedRows } from '#lib/numeric';
import { signOf } from './sums.js';

/** A column in ascending order, made once; every resample is then one walk over it. */
export interface Ascending {
  /** [rows] place of the row among `rows` of the plan, in ascending order of value */
  readonly row: Int32Array;
  /** [rows] its group, in the same order */
  readonly group: Int32Array;
  /** [rows] 1 where the run of equal values ends */
  readonly endsTie: Uint8Array;
}

/** Puts a column in order. @param values, groupOf [rows] all finite */
export function ascending(values: Float64Array, groupOf: Int32Array): Ascending {
  const { order, endsTie } = sortedRows(values);
  return { row: order, group: order.map((row) => groupOf[row]), endsTie };
}

/** The weighted ranks of a column, as of the last weights it was given. */
export interface WeightedRanks {
  readonly of: Ascending;
  /** [rows] */
  readonly rank: Float64Array;
  total: number;
  /** Σ w (rank − mean)² */
  m2: number;
}

export function noRanks(of: Ascending): WeightedRanks {
  return { of, rank: new Float64Array(of.row.length), total: 0, m2: 0 };
}

/**
 * Ranks rows that each count w times: the middle of the places that they and their equals take.
 *
 *     rank = W_below + W_equal / 2      (the average rank less ½; their weighted mean is W / 2)
 *
 * @param weight [groups]
 */
export function rankAgain(ranks: WeightedRanks, weight: Int32Array): void {
  const { row, group, endsTie } = ranks.of;
  let [below, equal, squares, first] = [0, 0, 0, 0];
  for (let i = 0; i < row.length; i++) {
    equal += weight[group[i]];
    if (!endsTie[i]) continue;
    const rank = below + equal / 2;
    squares += equal * rank * rank;
    for (; first <= i; first++) ranks.rank[row[first]] = rank;
    below += equal;
    equal = 0;
  }
  ranks.total = below;
  ranks.m2 = squares - (below * below * below) / 4;
}

/** The sign of the truth of each row, in the order of the credit. @param truth [rows] */
export function classes(credit: Ascending, truth: Float64Array): Int8Array {
  return Int8Array.from(credit.row, (row) => signOf(truth[row]));
}

/**
 * Spearman's correlation and the three AUCs of a credit against a truth, in one walk over the sorted credit.
 *
 * Ties are kept exactly: with weights of 1 these are the textbook numbers, with counts of drawn groups those of the
 * resample, ranked anew. NaN where a side is constant or empty.
 *
 * @param credit [rows]
 * @param truthClass −1, 0, 1, from classes()
 * @param truth ranked under the same weights
 * @param weight [groups]
 * @param result [≥ 4] spearman, auc, aucHarmful, aucUseful, as the first of MEASURES
 */
export function rankStatistics(
  credit: Ascending,
  truthClass: Int8Array,
  truth: WeightedRanks,
  weight: Int32Array,
  result: Float64Array,
): void {
  const { row, group, endsTie } = credit;
  const { rank, total } = truth;
  let [squares, products] = [0, 0];
  let [negative, zero, positive] = [0, 0, 0];
  let [tiedNegative, tiedZero, tiedPositive, tiedRanks] = [0, 0, 0, 0];
  let [overNegative, overOthers, underOthers] = [0, 0, 0];
  for (let i = 0; i < row.length; i++) {
    const w = weight[group[i]];
    if (w !== 0) {
      tiedRanks += w * rank[row[i]];
      if (truthClass[i] > 0) tiedPositive += w;
      else if (truthClass[i] < 0) tiedNegative += w;
      else tiedZero += w;
    }
    if (!endsTie[i]) continue;
    const equal = tiedNegative + tiedZero + tiedPositive;
    const own = negative + zero + positive + equal / 2;
    squares += equal * own * own;
    products += own * tiedRanks;
    overNegative += tiedPositive * (negative + tiedNegative / 2);
    overOthers += tiedPositive * (negative + zero + (tiedNegative + tiedZero) / 2);
    underOthers += (tiedPositive + tiedZero) * (negative + tiedNegative / 2);
    negative += tiedNegative;
    zero += tiedZero;
    positive += tiedPositive;
    tiedNegative = tiedZero = tiedPositive = tiedRanks = 0;
  }
  const centre = (total * total * total) / 4;
  const m2 = squares - centre;
  const spread = Math.sqrt(m2) * Math.sqrt(truth.m2);
  // The sums are exact below 200,000 rows, beyond that a constant may leave a residue.
  const isConstant = !(Math.min(m2, truth.m2) > 1e-9 * centre);
  result[0] = isConstant ? NaN : Math.max(-1, Math.min(1, (products - centre) / spread));
  result[1] = overNegative / (positive * negative);
  result[2] = underOthers / (negative * (zero + positive));
  result[3] = overOthers / (positive * (negative + zero));
}
