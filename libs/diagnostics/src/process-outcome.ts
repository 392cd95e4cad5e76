import type { NumericValues } from '#lib/dataset';
import { allEqual, auc, concordance, pearson, scratchDoubles, scratchInts, spearman, type Numbers } from '#lib/numeric';
import { leastSquares } from './least-squares.js';
import { rowsByKey, type RowsByKey } from './rows-by-key.js';

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
  const known = whole(rows);
  const { process: p, success: y, turns: T, trainingStep } = known;
  const agreement = agreementOf(known, params);
  const right = total(y);
  return {
    ...agreement,
    pearson: said(pearson(p, y)),
    spearman: said(spearman(p, y)),
    kendallTauB: kendallTauB(p, agreement.auroc, right * (y.length - right)),
    ...overSteps(p, y, T, trainingStep),
  };
}

/** The part of `processOutcome` that needs no ranks of all trajectories, and no more than one training step. */
export function processAgreement(rows: ProcessOutcomeRows, params: ProcessOutcomeParams) {
  return agreementOf(whole(rows), params);
}

const rowsKept = scratchInts();

/** The rows that have a score and an outcome: the columns themselves where all have. */
function whole(rows: ProcessOutcomeRows): ProcessOutcomeRows {
  const { process, success, turns, groupOf, trainingStep } = rows;
  const kept = rowsKept(process.length);
  let count = 0;
  for (let i = 0; i < process.length; i++)
    if (!Number.isNaN(process[i]) && !Number.isNaN(success[i])) kept[count++] = i;
  if (count === process.length) return rows;
  const said = kept.subarray(0, count);
  return {
    process: at(process, said),
    success: at(success, said),
    turns: at(turns, said),
    groupOf: said.map((i) => groupOf[i]),
    trainingStep: said.map((i) => trainingStep[i]),
  };
}

/** @param rows a score and an outcome in each */
function agreementOf({ process: p, success: y, turns: T, groupOf }: ProcessOutcomeRows, params: ProcessOutcomeParams) {
  const { meanCorrect, meanIncorrect, falsePositiveRate, falseNegativeRate } = ofEachOutcome(p, y, params.threshold);
  const gap = meanCorrect === null || meanIncorrect === null ? null : meanCorrect - meanIncorrect;
  const pT = pearson(p, T);
  return {
    auroc: said(auc(p, signs(y))),
    meanCorrect,
    meanIncorrect,
    gap,
    trustGamma: gap === null ? null : gap >= 0 ? 1 : Math.exp(gap),
    falsePositiveRate,
    falseNegativeRate,
    brier: brier(p, y),
    ece: calibrationError(p, y, params.bins),
    ...inGroups(p, y, rowsByKey(groupOf)),
    lengthCorrelation: said(pT),
    partialCorrelation: partialCorrelation(pearson(p, y), pT, pearson(y, T)),
  };
}

const signsOf = scratchDoubles();

function signs(y: Numbers): Float64Array {
  const found = signsOf(y.length);
  for (let i = 0; i < found.length; i++) found[i] = 2 * y[i] - 1;
  return found;
}

/** Mean score of the successes and of the others, and how often the threshold takes one for the other. */
function ofEachOutcome(p: Numbers, y: Numbers, threshold: number) {
  let right = 0;
  let sumOfRight = 0;
  let missed = 0;
  let wrong = 0;
  let sumOfWrong = 0;
  let alarms = 0;
  for (let i = 0; i < p.length; i++) {
    if (y[i] === 1) {
      right++;
      sumOfRight += p[i];
      missed += Number(p[i] < threshold);
    } else {
      wrong++;
      sumOfWrong += p[i];
      alarms += Number(p[i] >= threshold);
    }
  }
  return {
    meanCorrect: share(sumOfRight, right),
    meanIncorrect: share(sumOfWrong, wrong),
    falsePositiveRate: share(alarms, wrong),
    falseNegativeRate: share(missed, right),
  };
}

function brier(p: Numbers, y: Numbers): Value {
  let sum = 0;
  for (let i = 0; i < p.length; i++) sum += (p[i] - y[i]) ** 2;
  return share(sum, p.length);
}

/**
 * Kendall's tau-b against a side of two values, from the AUC: of the pairs that differ in y, concordant less discordant.
 *
 *     tau = (2 AUC − 1) P N / sqrt(P N · pairs that differ in p)
 */
function kendallTauB(p: Numbers, agreement: Value, mixedPairs: number): Value {
  const ties = new Map<number, number>();
  for (const value of p) ties.set(value, (ties.get(value) ?? 0) + 1);
  let differing = (p.length * (p.length - 1)) / 2;
  for (const n of ties.values()) differing -= (n * (n - 1)) / 2;
  if (differing * mixedPairs === 0) return null;
  return ((2 * (agreement ?? NaN) - 1) * mixedPairs) / Math.sqrt(mixedPairs * differing);
}

const placesOf = scratchInts();

/** Of scores in any range: below 0 there are as many bins as it takes. */
function calibrationError(p: Numbers, y: Numbers, bins: number): Value {
  // the bins in the order in which they were first seen
  const placeOf = placesOf(bins).fill(-1);
  const placeBelow = new Map<number, number>();
  const sums: number[] = [];
  for (let i = 0; i < p.length; i++) {
    const bin = Math.min(bins - 1, Math.floor(p[i] * bins));
    let place = bin >= 0 ? placeOf[bin] : (placeBelow.get(bin) ?? -1);
    if (place < 0) {
      place = sums.push(0) - 1;
      if (bin >= 0) placeOf[bin] = place;
      else placeBelow.set(bin, place);
    }
    sums[place] = sums[place] + p[i] - y[i];
  }
  // |B| / N · |mean p − mean y| = |Σ (p − y)| / N
  let total = 0;
  for (const sum of sums) total += Math.abs(sum);
  return share(total, p.length);
}

const scoresOf = scratchDoubles();
const outcomesOf = scratchDoubles();

function inGroups(p: Numbers, y: Numbers, { offsets, rows }: RowsByKey) {
  const scores = at(p, rows, scoresOf(rows.length));
  const outcomes = at(y, rows, outcomesOf(rows.length));
  const groups = offsets.length - 1;
  const sums = { mixed: 0, rowsOfMixed: 0, aurocs: 0, right: 0, pairs: 0, agreeing: 0 };
  let onlyScoresDiffer = 0;
  let selected = 0;
  let succeeded = 0;
  for (let g = 0; g < groups; g++) {
    const from = offsets[g];
    const to = offsets[g + 1];
    const meanOutcome = meanOf(outcomes, from, to);
    selected += outcomeOfBest(scores, outcomes, from, to);
    succeeded += meanOutcome;
    if (!differ(outcomes, from, to)) {
      onlyScoresDiffer += Number(differ(scores, from, to));
      continue;
    }
    const { right, pairs } = concordance(scores, outcomes, from, to);
    sums.mixed++;
    sums.rowsOfMixed += to - from;
    sums.aurocs += right / pairs;
    sums.right += right;
    sums.pairs += pairs;
    const meanScore = meanOf(scores, from, to);
    for (let k = from; k < to; k++) sums.agreeing += agrees(scores[k] - meanScore, outcomes[k] - meanOutcome);
  }
  const selectionAccuracy = share(selected, groups);
  return {
    mixedGroups: sums.mixed,
    groupAuroc: share(sums.aurocs, sums.mixed),
    pairInversionRate: sums.mixed === 0 ? null : 1 - sums.right / sums.pairs,
    signAgreement: share(sums.agreeing, sums.rowsOfMixed),
    processOnlySignalGroups: share(onlyScoresDiffer, groups),
    selectionAccuracy,
    selectionGain: selectionAccuracy === null ? null : selectionAccuracy - succeeded / groups,
  };
}

/** Mean outcome of the rows with the highest score. */
function outcomeOfBest(scores: Numbers, outcomes: Numbers, from: number, to: number): number {
  let highest = -Infinity;
  let sum = 0;
  let count = 0;
  for (let k = from; k < to; k++) {
    const score = scores[k];
    if (score < highest) continue;
    if (score > highest) {
      highest = score;
      sum = 0;
      count = 0;
    }
    sum += outcomes[k];
    count++;
  }
  return sum / count;
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
function overSteps(p: Numbers, y: Numbers, T: Numbers, trainingStep: Int32Array) {
  const { keys, offsets, rows } = rowsByKey(trainingStep);
  const ascending = [...keys.keys()].sort((a, b) => keys[a] - keys[b]);
  const steps = ascending.map((l) => keys[l]);
  const curve = (values: Numbers) => {
    const listed = at(values, rows);
    return ascending.map((l) => meanOf(listed, offsets[l], offsets[l + 1]));
  };
  const [meanProcessByStep, meanOutcomeByStep] = [curve(p), curve(y)];
  const slope = (values: readonly number[]) => leastSquares(steps, values)?.slope ?? null;

  let lowest = Infinity;
  let gapDrawup = 0;
  let gapDrawupStep: Value = null;
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
const share = (part: number, of: number): Value => (of === 0 ? null : part / of);

function total(values: Numbers): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

/** The values of some rows, side by side. */
function at(values: Numbers, rows: Int32Array, found: Float64Array = new Float64Array(rows.length)): Float64Array {
  for (let k = 0; k < found.length; k++) found[k] = values[rows[k]];
  return found;
}

function meanOf(values: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let k = from; k < to; k++) sum += values[k];
  return sum / (to - from);
}

function differ(values: Float64Array, from: number, to: number): boolean {
  let min = Infinity;
  let max = -Infinity;
  for (let k = from; k < to; k++) {
    if (values[k] < min) min = values[k];
    if (values[k] > max) max = values[k];
  }
  return !allEqual(min, max);
}
