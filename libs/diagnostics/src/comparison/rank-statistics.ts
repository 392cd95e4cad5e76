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
  let below = 0;
  let equal = 0;
  let squares = 0;
  let first = 0;
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

/** A credit in ascending order beside the class of the truth: all that a walk reads in one integer per row. */
export interface ClassedCredit {
  /** [rows] as in Ascending */
  readonly row: Int32Array;
  /** [rows] group · 8 + flags */
  readonly packed: Int32Array;
}

/** The flags of ClassedCredit.packed. */
const NEGATIVE = 1;
const ZERO = 2;
const ENDS_TIE = 4;

/** Classes each row by the sign of its truth. @param truth [rows] */
export function classedCredit({ row, group, endsTie }: Ascending, truth: Float64Array): ClassedCredit {
  const flags = (i: number) => {
    const sign = signOf(truth[row[i]]);
    return (sign < 0 ? NEGATIVE : 0) | (sign === 0 ? ZERO : 0) | (endsTie[i] ? ENDS_TIE : 0);
  };
  return { row, packed: group.map((g, i) => (g << 3) | flags(i)) };
}

/**
 * How likely a row with truth > 0 has more credit than one with truth < 0, of equals one half. NaN where there is none of
 * one kind.
 *
 * @param weight [groups]
 */
export function weightedAuc({ packed }: ClassedCredit, weight: Int32Array): number {
  let negative = 0;
  let positive = 0;
  let tiedNegative = 0;
  let tiedPositive = 0;
  let over = 0;
  for (const flags of packed) {
    const w = weight[flags >> 3];
    if ((flags & NEGATIVE) !== 0) tiedNegative += w;
    else if ((flags & ZERO) === 0) tiedPositive += w;
    if ((flags & ENDS_TIE) === 0) continue;
    over += tiedPositive * (negative + tiedNegative / 2);
    negative += tiedNegative;
    positive += tiedPositive;
    tiedNegative = tiedPositive = 0;
  }
  return over / (positive * negative);
}

/**
 * Spearman's correlation and the three AUCs of a credit against a truth, in one walk over the sorted credit.
 *
 * Ties are kept exactly: with weights of 1 these are the textbook numbers, with counts of drawn groups those of the
 * resample, ranked anew. NaN where a side is constant or empty. Masks in place of branches: which class comes next
 * cannot be predicted, and a wrong guess per row took half the time (15 ns per row, 6 without).
 *
 * @param credit [rows]
 * @param truth ranked under the same weights
 * @param weight [groups]
 * @param result [≥ 4] spearman, auc, aucHarmful, aucUseful, as the first of MEASURES
 */
export function rankStatistics(
  { row, packed }: ClassedCredit,
  truth: WeightedRanks,
  weight: Int32Array,
  result: Float64Array,
): void {
  const { rank, total } = truth;
  let squares = 0;
  let products = 0;
  let below = 0;
  let negative = 0;
  let zero = 0;
  let tied = 0;
  let tiedNegative = 0;
  let tiedZero = 0;
  let tiedRanks = 0;
  let overNegative = 0;
  let overOthers = 0;
  let underOthers = 0;
  for (let i = 0; i < packed.length; i++) {
    const flags = packed[i];
    const w = weight[flags >> 3];
    tied = (tied + w) | 0;
    tiedNegative = (tiedNegative + (w & -(flags & NEGATIVE))) | 0;
    tiedZero = (tiedZero + (w & -((flags & ZERO) >> 1))) | 0;
    tiedRanks += w * rank[row[i]];
    if ((flags & ENDS_TIE) === 0) continue;

    const own = below + tied / 2;
    const tiedPositive = tied - tiedNegative - tiedZero;
    const lower = negative + tiedNegative / 2;
    squares += tied * own * own;
    products += own * tiedRanks;
    overNegative += tiedPositive * lower;
    overOthers += tiedPositive * (lower + zero + tiedZero / 2);
    underOthers += (tiedPositive + tiedZero) * lower;
    below += tied;
    negative += tiedNegative;
    zero += tiedZero;
    tied = tiedNegative = tiedZero = tiedRanks = 0;
  }
  const positive = total - negative - zero;
  const centre = (total * total * total) / 4;
  const m2 = squares - centre;
  const spread = Math.sqrt(m2 * truth.m2);
  // The sums are exact below 200,000 rows, beyond that a constant may leave a residue.
  const isConstant = !(Math.min(m2, truth.m2) > 1e-9 * centre);
  result[0] = isConstant ? NaN : Math.max(-1, Math.min(1, (products - centre) / spread));
  result[1] = overNegative / (positive * negative);
  result[2] = underOthers / (negative * (zero + positive));
  result[3] = overOthers / (positive * (negative + zero));
}
