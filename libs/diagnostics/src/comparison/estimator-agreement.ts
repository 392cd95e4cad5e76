import {
  comoments,
  correlationOf,
  marginals,
  mergeComoments,
  populationStd,
  sortedRows,
  averageRanks,
  type Comoments,
} from '#lib/numeric';
import { addSums, namesOf, signOf, withReasons } from './sums.js';

/** Share of the turns that count as an estimator's top. */
const TOP_SHARE = 0.1;

/** How two estimators agree, in sums over the turns of which both speak. */
export interface AgreementSums {
  readonly comoments: Comoments;
  readonly sums: {
    /** [3 × 3] rows: sign of the left one (−, 0, +), columns: of the right one */
    readonly signConfusion: Float64Array;
    /** Σ |L R| over equal signs, and over all turns where neither is 0 */
    readonly agreeingWeight: number;
    readonly signedWeight: number;
  };
}

/**
 * Sums two estimators' credit over the same turns.
 *
 * @param left, right [turns]
 */
export function agreementSums(left: Float64Array, right: Float64Array): AgreementSums {
  const signConfusion = new Float64Array(9);
  let agreeingWeight = 0;
  let signedWeight = 0;
  for (let i = 0; i < left.length; i++) {
    if (!Number.isFinite(left[i]) || !Number.isFinite(right[i])) continue;
    const leftSign = signOf(left[i]);
    const rightSign = signOf(right[i]);
    signConfusion[3 * (leftSign + 1) + rightSign + 1]++;
    if (leftSign === 0 || rightSign === 0) continue;
    const weight = Math.abs(left[i] * right[i]);
    signedWeight += weight;
    if (leftSign === rightSign) agreeingWeight += weight;
  }
  return { comoments: comoments(left, right), sums: { signConfusion, agreeingWeight, signedWeight } };
}

/** The agreement over two disjoint sets of turns taken together. */
export function mergeAgreements(a: AgreementSums, b: AgreementSums): AgreementSums {
  return { comoments: mergeComoments(a.comoments, b.comoments), sums: addSums(a.sums, b.sums) };
}

/** A column with what rank statistics need of it, made once per estimator. */
export interface RankedColumn {
  readonly values: Float64Array;
  readonly said: number;
  /** [rows] average rank, NaN where nothing is said */
  readonly ranks: Float64Array;
  /** [rows] 1 on the ceil(0.1 · said) largest |A|; of equals the earlier row */
  readonly top: Uint8Array;
}

/** Ranks a column of the sample. */
export function rankedColumn(values: Float64Array): RankedColumn {
  const finite = values.filter(Number.isFinite);
  const ranksOfFinite = averageRanks(finite);
  const ranks = new Float64Array(values.length).fill(NaN);
  for (let i = 0, at = 0; i < values.length; i++) if (Number.isFinite(values[i])) ranks[i] = ranksOfFinite[at++];

  const top = new Uint8Array(values.length);
  const { order } = sortedRows(values.map((value) => -Math.abs(value)));
  for (const row of order.subarray(0, Math.ceil(TOP_SHARE * finite.length))) top[row] = 1;
  return { values, said: finite.length, ranks, top };
}

/**
 * Spearman's correlation and the overlap of the tops, over the rows where both say something.
 *
 * The columns' own ranks serve where both speak of the same rows; else they are ranked again on the common ones.
 */
export function rankAgreement(left: RankedColumn, right: RankedColumn): { spearman: number; topOverlap: number } {
  const common = left.values.map((value, i) => (Number.isFinite(value) && Number.isFinite(right.values[i]) ? 1 : 0));
  const rows = common.reduce((sum, value) => sum + value, 0);
  const onCommon = (column: RankedColumn) =>
    column.said === rows ? column : rankedColumn(column.values.map((value, i) => (common[i] ? value : NaN)));
  const [a, b] = [onCommon(left), onCommon(right)];

  let both = 0;
  let either = 0;
  for (let i = 0; i < common.length; i++) {
    both += a.top[i] & b.top[i];
    either += a.top[i] | b.top[i];
  }
  return { spearman: correlationOf(comoments(a.ranks, b.ranks)), topOverlap: both / either };
}

/** How two estimators agree about the same turns. */
export type EstimatorAgreement = ReturnType<typeof estimatorAgreement>;

/**
 * The diagnostic estimator-agreement, from sums; `spearman` and `topOverlap` from the sample.
 *
 *     signAgreement          equal signs / turns where both are non-zero
 *     weightedSignAgreement  the same weighted by |L R|
 *     onlyLeft, onlyRight    turns where the other one is 0
 *     topOverlap             Jaccard of the tops: the 10 % largest |A|
 *     scaleRatio             std_R / std_L, ddof 0
 *     slopeThroughOrigin     Σ L R / Σ L²
 */
export function estimatorAgreement(
  pair: string,
  { comoments: of, sums }: AgreementSums,
  { spearman, topOverlap }: { readonly spearman: number; readonly topOverlap: number },
) {
  const [a, b] = namesOf(pair);
  const [nn, nz, np, zn, , zp, pn, pz, pp] = sums.signConfusion;
  const signed = nn + np + pn + pp;
  const { x, y } = marginals(of);
  const [stdA, stdB] = [populationStd(x), populationStd(y)];
  const pearson = correlationOf(of);
  const none = of.n === 0 ? 'no turn of which both speak' : null;
  const constant = none ?? constantReason(a, stdA, b, stdB);
  return {
    a,
    b,
    n: of.n,
    signConfusion: [0, 3, 6].map((row) => [...sums.signConfusion.subarray(row, row + 3)]),
    flipCount: np + pn,
    onlyLeft: nz + pz,
    onlyRight: zn + zp,
    ...withReasons({
      pearson: [pearson, constant],
      spearman: [Number.isNaN(pearson) ? NaN : spearman, constant],
      signAgreement: [(nn + pp) / signed, none ?? 'no turn where both are non-zero'],
      weightedSignAgreement: [sums.agreeingWeight / sums.signedWeight, none ?? 'no turn where both are non-zero'],
      topOverlap: [topOverlap, none ?? 'no turn of the sample of which both speak'],
      scaleRatio: [stdA > 0 ? stdB / stdA : NaN, none ?? `${a} is constant`],
      slopeThroughOrigin: [
        (of.cXY + of.n * of.meanX * of.meanY) / (of.m2X + of.n * of.meanX ** 2),
        none ?? `${a} is zero everywhere`,
      ],
    }),
  };
}

function constantReason(a: string, stdA: number, b: string, stdB: number): string {
  const constant = [...(stdA > 0 ? [] : [a]), ...(stdB > 0 ? [] : [b])];
  if (constant.length === 0) return 'constant in the sample';
  return constant.length === 2 ? `${a} and ${b} are constant` : `${constant[0]} is constant`;
}
