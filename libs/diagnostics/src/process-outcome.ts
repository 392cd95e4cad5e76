import type { NumericValues } from '#lib/dataset';
import { allEqual, auc, concordance, pearson, spearman, type Numbers } from '#lib/numeric';
import { leastSquares } from './least-squares.js';

/** A deviation from a group's mean below this has no sign. */
const NO_SIGN = 1e-12;

/** Trajectories as this diagnostic sees them. */
export interface ProcessOutcomeRows {
  /** [trajectories] p, one process score each; NaN: not judged */
  readonly process: NumericValues;
  /** [trajectories] y, flags; NaN: not said */
  readonly success: NumericValues;
  /** [trajectories] */
  readonly turns: NumericValues;
  /** [trajectories] index of its group, and the training step */
  readonly groupOf: Int32Array;
  readonly trainingStep: Int32Array;
}

export interface ProcessOutcomeParams {
  /** a process score from here on says yes */
  readonly threshold: number;
  /** of the calibration error */
  readonly bins: number;
}

type Value = number | null;

/**
 * How far a process score agrees with the outcome, and whether it drifts away from it: the signs of a judge being gamed.
 *
 *     auroc = P(p of a success > p of a failure), ties half        kendallTauB, pearson, spearman of (p, y)
 *     trustGamma = 1 where mean p of successes ≥ mean p of failures, else exp(their difference)
 *     brier = mean (p − y)²        ece = Σ_b |B| / N · |mean p − mean y|, b = min(bins − 1, ⌊p · bins⌋)
 *     partialCorrelation = (r_py − r_pT r_yT) / sqrt((1 − r_pT²)(1 − r_yT²))      T: number of turns
 *     gapDrawup = max_s (d_s − min_{u ≤ s} d_u)      d_s = mean p − mean y of training step s
 *
 * Mixed groups hold a success and a failure. `signAgreement`: share of their trajectories with sign(p − mean p) =
 * sign(y − mean y). `processOnlySignalGroups`: groups whose outcomes agree and whose scores do not, over all groups.
 * A trajectory without a score or an outcome takes no part. null: undefined. The judge must not have seen the outcome.
 */
export function processOutcome(rows: ProcessOutcomeRows, params: ProcessOutcomeParams) {
  const { process: p, success: y, turns: T, trainingStep } = whole(rows);
  const agreement = auc(p, signs(y));
  const right = total(y);
  return {
    ...processAgreement(rows, params),
    pearson: said(pearson(p, y)),
    spearman: said(spearman(p, y)),
    kendallTauB: kendallTauB(p, agreement, right * (y.length - right)),
    ...overSteps(p, y, T, trainingStep),
  };
}

const signs = (y: Float64Array) => y.map((value) => 2 * value - 1);

/** The part of `processOutcome` that needs no ranks of all trajectories, and no more than one training step. */
export function processAgreement(rows: ProcessOutcomeRows, { threshold, bins }: ProcessOutcomeParams) {
  const { process: p, success: y, turns: T, groupOf } = whole(rows);
  const right = indices(y, (value) => value === 1);
  const wrong = indices(y, (value) => value !== 1);
  const meanCorrect = meanAt(p, right);
  const meanIncorrect = meanAt(p, wrong);
  const gap = meanCorrect === null || meanIncorrect === null ? null : meanCorrect - meanIncorrect;
  const pT = pearson(p, T);
  return {
    auroc: said(auc(p, signs(y))),
    meanCorrect,
    meanIncorrect,
    gap,
    trustGamma: gap === null ? null : gap >= 0 ? 1 : Math.exp(gap),
    falsePositiveRate: shareOf(wrong, (i) => p[i] >= threshold),
    falseNegativeRate: shareOf(right, (i) => p[i] < threshold),
    brier: mean(p.map((value, i) => (value - y[i]) ** 2)),
    ece: calibrationError(p, y, bins),
    ...inGroups(p, y, groupOf),
    lengthCorrelation: said(pT),
    partialCorrelation: partialCorrelation(pearson(p, y), pT, pearson(y, T)),
  };
}

/** The rows that have a score and an outcome. */
function whole({ process, success, turns, groupOf, trainingStep }: ProcessOutcomeRows) {
  const kept = indices(process, (p, i) => !Number.isNaN(p) && !Number.isNaN(success[i]));
  const floats = (values: Numbers) => Float64Array.from(kept, (i) => values[i]);
  return {
    process: floats(process),
    success: floats(success),
    turns: floats(turns),
    groupOf: Int32Array.from(kept, (i) => groupOf[i]),
    trainingStep: Int32Array.from(kept, (i) => trainingStep[i]),
  };
}

/**
 * Kendall's tau-b against a side of two values, from the AUC: of the pairs that differ in y, concordant less discordant.
 *
 *     tau = (2 AUC − 1) P N / sqrt(P N · pairs that differ in p)
 */
function kendallTauB(p: Float64Array, agreement: number, mixedPairs: number): Value {
  const ties = new Map<number, number>();
  for (const value of p) ties.set(value, (ties.get(value) ?? 0) + 1);
  let differing = (p.length * (p.length - 1)) / 2;
  for (const n of ties.values()) differing -= (n * (n - 1)) / 2;
  return differing * mixedPairs === 0 ? null : ((2 * agreement - 1) * mixedPairs) / Math.sqrt(mixedPairs * differing);
}

function calibrationError(p: Float64Array, y: Float64Array, bins: number): Value {
  const sums = new Map<number, number>();
  p.forEach((value, i) => {
    const bin = Math.min(bins - 1, Math.floor(value * bins));
    sums.set(bin, (sums.get(bin) ?? 0) + value - y[i]);
  });
  // |B| / N · |mean p − mean y| = |Σ (p − y)| / N
  const total = [...sums.values()].reduce((sum, bin) => sum + Math.abs(bin), 0);
  return p.length === 0 ? null : total / p.length;
}

function inGroups(p: Float64Array, y: Float64Array, groupOf: Int32Array) {
  const groups = [...rowsByKey(groupOf).values()].map((rows) => ({
    p: Float64Array.from(rows, (i) => p[i]),
    y: Float64Array.from(rows, (i) => y[i]),
  }));
  const mixed = groups.filter(({ y }) => differ(y));
  const pairs = mixed.map(({ p, y }) => concordance(p, y, 0, p.length));
  const agreeing = mixed.flatMap(({ p, y }) => {
    const [meanP, meanY] = [mean(p)!, mean(y)!];
    return Array.from(p, (value, k) => agrees(value - meanP, y[k] - meanY));
  });
  const selected = groups.map(({ p, y }) => {
    const { max } = extremes(p);
    return meanAt(
      y,
      indices(p, (value) => value === max),
    )!;
  });
  const selectionAccuracy = mean(selected);
  const meanSuccess = mean(groups.map(({ y }) => mean(y)!));
  return {
    mixedGroups: mixed.length,
    groupAuroc: mean(pairs.map(({ right, pairs }) => right / pairs)),
    pairInversionRate: mixed.length === 0 ? null : 1 - total(pairs.map(({ right }) => right)) / total(pairs.map(({ pairs }) => pairs)), // prettier-ignore
    signAgreement: mean(agreeing),
    processOnlySignalGroups: mean(groups.map(({ p, y }) => (!differ(y) && differ(p) ? 1 : 0))),
    selectionAccuracy,
    selectionGain: selectionAccuracy === null ? null : selectionAccuracy - meanSuccess!,
  };
}

const sign = (deviation: number) => (Math.abs(deviation) <= NO_SIGN ? 0 : Math.sign(deviation));
const agrees = (a: number, b: number) => (sign(a) !== 0 && sign(a) === sign(b) ? 1 : 0);

const LEAST_LEFT = 1e-12;

function partialCorrelation(py: number, pT: number, yT: number): Value {
  const left = (1 - pT ** 2) * (1 - yT ** 2);
  // A perfect correlation leaves nothing but rounding.
  return left > LEAST_LEFT ? (py - pT * yT) / Math.sqrt(left) : null;
}

/** Curves by training step, in ascending order, and what is to be seen in them. */
function overSteps(p: Float64Array, y: Float64Array, T: Float64Array, trainingStep: Int32Array) {
  const rowsOfStep = rowsByKey(trainingStep);
  const steps = [...rowsOfStep.keys()].sort((a, b) => a - b);
  const curve = (values: Float64Array) => steps.map((step) => meanAt(values, rowsOfStep.get(step)!)!);
  const [meanProcessByStep, meanOutcomeByStep] = [curve(p), curve(y)];
  const slope = (values: readonly number[]) => leastSquares(steps, values)?.slope ?? null;

  let [lowest, gapDrawup, gapDrawupStep]: [number, number, Value] = [Infinity, 0, null];
  steps.forEach((step, s) => {
    const gap = meanProcessByStep[s] - meanOutcomeByStep[s];
    lowest = Math.min(lowest, gap);
    if (gap - lowest > gapDrawup) [gapDrawup, gapDrawupStep] = [gap - lowest, step];
  });
  return {
    steps,
    meanProcessByStep,
    meanOutcomeByStep,
    processSlope: slope(meanProcessByStep),
    outcomeSlope: slope(meanOutcomeByStep),
    lengthSlope: slope(curve(T)),
    gapDrawup: steps.length === 0 ? null : gapDrawup,
    gapDrawupStep,
  };
}

const said = (value: number): Value => (Number.isNaN(value) ? null : value);
function total(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
const mean = (values: ArrayLike<number> & Iterable<number>): Value =>
  values.length === 0 ? null : total(values) / values.length;
const meanAt = (values: Numbers, rows: readonly number[]) => mean(rows.map((i) => values[i]));
const shareOf = (rows: readonly number[], claim: (row: number) => boolean) => mean(rows.map((i) => (claim(i) ? 1 : 0)));
const differ = (values: Float64Array) => {
  const { min, max } = extremes(values);
  return !allEqual(min, max);
};

function extremes(values: Float64Array): { min: number; max: number } {
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

function rowsByKey(keys: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  keys.forEach((key, i) => {
    const known = rows.get(key);
    if (known) known.push(i);
    else rows.set(key, [i]);
  });
  return rows;
}

function indices(values: Numbers | Int32Array, claim: (value: number, row: number) => boolean): number[] {
  const rows: number[] = [];
  values.forEach((value: number, i: number) => {
    if (claim(value, i)) rows.push(i);
  });
  return rows;
}
