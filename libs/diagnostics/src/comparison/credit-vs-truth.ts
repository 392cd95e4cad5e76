import type { TrajectoryBatch } from '#lib/dataset';
import {
  comoments,
  concordance,
  correlationOf,
  mergeComoments,
  populationStd,
  marginals,
  type Comoments,
} from '#lib/numeric';
import { addSums, namesOf, signOf, withReasons } from './sums.js';
import { MEASURES, type Interval, type Measure } from './measures.js';

/** How one estimator's credit relates to a truth, in sums over the turns where both are said. */
export interface TruthSums {
  readonly comoments: Comoments;
  readonly sums: {
    /** turns whose truth is none of −1, 0, 1: then it is no label */
    readonly unlabelled: number;
    readonly positive: number;
    readonly negative: number;
    /** [3] turns labelled −1, 0, 1 and the sum of their credit */
    readonly countByLabel: Float64Array;
    readonly creditByLabel: Float64Array;
    readonly pairs: number;
    readonly rightPairs: number;
    readonly erroneous: number;
    readonly firstErrorHits: number;
    readonly firstErrorsWithinOne: number;
    readonly firstErrorChance: number;
  };
}

/**
 * Sums one estimator against one truth over a shard.
 *
 * @param credit, truth [turns]
 */
export function truthSums(
  { turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>,
  credit: Float64Array,
  truth: Float64Array,
): TruthSums {
  const labels = labelSums(credit, truth);
  const { pairs, rightPairs } = pairSums(turnOffsets, credit, truth);
  const errors = labels.countByLabel[0] === 0 ? NO_ERRORS : errorSums(turnOffsets, credit, truth);
  return { comoments: comoments(credit, truth), sums: { ...labels, pairs, rightPairs, ...errors } };
}

function labelSums(credit: Float64Array, truth: Float64Array) {
  const countByLabel = new Float64Array(3);
  const creditByLabel = new Float64Array(3);
  let unlabelled = 0;
  let positive = 0;
  let negative = 0;
  for (let i = 0; i < credit.length; i++) {
    const label = truth[i];
    if (!Number.isFinite(credit[i]) || !Number.isFinite(label)) continue;
    const sign = signOf(label);
    positive += Number(sign > 0);
    negative += Number(sign < 0);
    if (label !== -1 && label !== 0 && label !== 1) {
      unlabelled++;
      continue;
    }
    countByLabel[label + 1]++;
    creditByLabel[label + 1] += credit[i];
  }
  return { unlabelled, positive, negative, countByLabel, creditByLabel };
}

function pairSums(turnOffsets: Int32Array, credit: Float64Array, truth: Float64Array) {
  let pairs = 0;
  let rightPairs = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const found = concordance(credit, truth, turnOffsets[i], turnOffsets[i + 1]);
    pairs += found.pairs;
    rightPairs += found.right;
  }
  return { pairs, rightPairs };
}

const NO_ERRORS = { erroneous: 0, firstErrorHits: 0, firstErrorsWithinOne: 0, firstErrorChance: 0 };

function errorSums(turnOffsets: Int32Array, credit: Float64Array, truth: Float64Array): typeof NO_ERRORS {
  const sums = { ...NO_ERRORS };
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const error = firstError(credit, truth, turnOffsets[i], turnOffsets[i + 1]);
    if (!error) continue;
    sums.erroneous++;
    sums.firstErrorHits += error.distance === 0 ? 1 : 0;
    sums.firstErrorsWithinOne += error.distance <= 1 ? 1 : 0;
    sums.firstErrorChance += error.chance;
  }
  return sums;
}

/**
 * Turns between the least credit (the first, of equals) and the first label −1 of a trajectory, and the chance 1 / T to
 * hit it; null where no turn is labelled −1.
 */
export function firstError(
  credit: Float64Array,
  truth: Float64Array,
  from: number,
  to: number,
): { readonly distance: number; readonly chance: number } | null {
  let said = 0;
  let error = -1;
  let least = -1;
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(credit[i]) || !Number.isFinite(truth[i])) continue;
    said++;
    if (error < 0 && truth[i] === -1) error = i;
    if (least < 0 || credit[i] < credit[least]) least = i;
  }
  return error < 0 ? null : { distance: Math.abs(error - least), chance: 1 / said };
}

/** The sums over two disjoint sets of trajectories taken together. */
export function mergeTruths(a: TruthSums, b: TruthSums): TruthSums {
  return { comoments: mergeComoments(a.comoments, b.comoments), sums: addSums(a.sums, b.sums) };
}

/** What the sample alone can say: rank statistics, and how sure each number is. */
export interface SampledAgreement {
  readonly spearman: number;
  readonly auc: number;
  readonly aucHarmful: number;
  readonly aucUseful: number;
  readonly aucMixedGroups: number;
  /** 90 %; [NaN, NaN] where there is none */
  readonly intervals: Readonly<Record<Measure, Interval>>;
}

/** How one estimator's credit relates to a truth. */
export type TruthAgreement = ReturnType<typeof truthAgreement>;

/**
 * The diagnostic credit-vs-labels, for labels −1, 0, 1 and for any other truth that has a sign.
 *
 *     auc          how likely a turn with truth > 0 has more credit than one with truth < 0; truth 0 takes no part
 *     aucMixedGroups  the same over the turns of groups whose outcomes differ: an easy task does not flatter it
 *     aucHarmful   (labels) how likely a turn labelled −1 has less credit than any other
 *     aucUseful    (labels) how likely a turn labelled +1 has more credit than any other
 *     withinTrajectoryPairAccuracy  pairs of turns of one trajectory with different truths: right order 1, equal credit ½
 *     firstErrorHit, -WithinOne     (labels) the least credit is the first −1, or next to it; chance is mean(1 / T)
 *
 * Read the pair accuracy first: an outcome estimator has an AUC above ½ only because failed trajectories hold more bad
 * turns, but a pair accuracy of exactly ½.
 *
 * `low` and `high` are the interval of Spearman's correlation.
 */
export function truthAgreement(pair: string, { comoments: of, sums }: TruthSums, sampled: SampledAgreement) {
  const [signal, estimator] = namesOf(pair);
  const isLabel = of.n > 0 && sums.unlabelled === 0;
  const pearson = correlationOf(of);
  const none = of.n === 0 ? `no turn has both ${signal} and ${estimator}` : null;
  const labels = isLabel ? null : (none ?? `${signal} is no label: it takes values other than -1, 0, 1`);
  const constant = none ?? (populationStd(marginals(of).x) > 0 ? `${signal} is constant` : `${estimator} is constant`);
  const [harmful, , useful] = sums.countByLabel;
  const oneSided = (count: number, of: string) => `${count === 0 ? 'no' : 'every'} turn is labelled ${of}`;
  const noError = labels ?? 'no turn is labelled -1';
  const errors = isLabel ? sums.erroneous : NaN;
  const spearman = Number.isNaN(pearson) ? NaN : sampled.spearman;
  const aucReason = none ?? `no turn where ${signal} is ${sums.positive === 0 ? 'above' : 'below'} 0`;
  const mixedReason = none ?? `no group of mixed outcomes has turns where ${signal} is above 0 and below 0`;
  const noPair = none ?? `no trajectory has two turns that differ in ${signal}`;
  const numbers = withReasons({
    auc: [sampled.auc, aucReason],
    aucMixedGroups: [sampled.aucMixedGroups, mixedReason],
    spearman: [spearman, constant],
    pearson: [pearson, constant],
    withinTrajectoryPairAccuracy: [sums.rightPairs / sums.pairs, noPair],
    aucHarmful: [isLabel ? sampled.aucHarmful : NaN, labels ?? oneSided(harmful, '-1')],
    aucUseful: [isLabel ? sampled.aucUseful : NaN, labels ?? oneSided(useful, '1')],
    firstErrorHit: [sums.firstErrorHits / errors, noError],
    firstErrorWithinOne: [sums.firstErrorsWithinOne / errors, noError],
    firstErrorChance: [sums.firstErrorChance / errors, noError],
  });
  const intervals = limits(sampled.intervals, numbers);
  return {
    signal,
    estimator,
    n: of.n,
    isLabel,
    positive: sums.positive,
    negative: sums.negative,
    pairs: sums.pairs,
    erroneousTrajectories: isLabel ? sums.erroneous : null,
    meanCreditByLabel: isLabel ? Array.from(sums.creditByLabel, (sum, i) => meanOf(sum, sums.countByLabel[i])) : null,
    ...numbers,
    low: intervals.spearman.low,
    high: intervals.spearman.high,
    aucLow: intervals.auc.low,
    aucHigh: intervals.auc.high,
    intervals,
  };
}

function meanOf(sum: number, count: number): number | null {
  return count > 0 ? sum / count : null;
}

/** The intervals as they are shown: null where the number itself is, and where too few resamples gave one. */
function limits(
  intervals: Readonly<Record<Measure, Interval>>,
  numbers: Readonly<Record<Measure, number | null>>,
): Record<Measure, { readonly low: number | null; readonly high: number | null }> {
  const shown = MEASURES.map((measure) => {
    const [low, high] = intervals[measure];
    const isKnown = numbers[measure] !== null && Number.isFinite(low) && Number.isFinite(high);
    return [measure, isKnown ? { low, high } : { low: null, high: null }] as const;
  });
  return Object.fromEntries(shown) as ReturnType<typeof limits>;
}
