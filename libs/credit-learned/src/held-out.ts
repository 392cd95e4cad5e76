import type { Column } from '#lib/credit';
import { rowLengths } from '#lib/numeric';
import type { Fold } from './folds.js';
import { meansOfOthers } from './means-of-others.js';

/** How well a model did on what it had not seen. */
export interface HeldOut {
  readonly heldOutLoss: number;
  /** of always saying the mean of what the model was trained on */
  readonly baselineLoss: number;
  /** mean distance between what was said and what came, in tenths of the rows ordered by what was said */
  readonly calibrationError: number;
}

const BINS = 10;

/**
 * Judges predictions of rows by a loss that is averaged over them.
 *
 * @param predicted, actual, baseline [rows] baseline: what a model that knows nothing says of the row
 */
export function judge(
  predicted: Float64Array,
  actual: Float64Array,
  baseline: Float64Array,
  lossOf: (predicted: number, actual: number) => number,
): HeldOut {
  const mean = (said: Float64Array) =>
    said.reduce((sum, value, row) => sum + lossOf(value, actual[row]), 0) / said.length;
  return {
    heldOutLoss: mean(predicted),
    baselineLoss: mean(baseline),
    calibrationError: calibrationError(predicted, actual),
  };
}

/**
 * Judges what was said of how trajectories end, by squared errors. Those without turns are in no fold.
 *
 * @param predicted, outcome [trajectories]
 */
export function judgeOutcomes(
  predicted: Float64Array,
  outcome: Float64Array,
  turnOffsets: Int32Array,
  folds: readonly Fold[],
): HeldOut {
  const turns = rowLengths(turnOffsets);
  const means = meansOfOthers(outcome, new Float64Array(outcome.length).fill(1), folds);
  const said = (values: Float64Array) => values.filter((_, i) => turns[i] > 0);
  return judge(said(predicted), said(outcome), said(means), squaredLoss);
}

/** Σ_bins rows of the bin / rows · |mean predicted − mean actual|, bins of equal counts in the order of what was predicted. */
export function calibrationError(predicted: Float64Array, actual: Float64Array): number {
  const order = Array.from(predicted, (_, row) => row).sort((a, b) => predicted[a] - predicted[b] || a - b);
  let error = 0;
  for (let bin = 0; bin < BINS; bin++) {
    const from = Math.floor((bin * order.length) / BINS);
    const to = Math.floor(((bin + 1) * order.length) / BINS);
    let gap = 0;
    for (let k = from; k < to; k++) gap += predicted[order[k]] - actual[order[k]];
    error += Math.abs(gap) / order.length;
  }
  return error;
}

export const squaredLoss = (predicted: number, actual: number) => (predicted - actual) ** 2;

/** What is reported with the credit, for the reader to judge it by. */
export function heldOutColumns(heldOut: HeldOut): Record<keyof HeldOut, Column> {
  const ofShard = (value: number): Column => ({ level: 'shard', values: Float64Array.of(value) });
  return {
    heldOutLoss: ofShard(heldOut.heldOutLoss),
    baselineLoss: ofShard(heldOut.baselineLoss),
    calibrationError: ofShard(heldOut.calibrationError),
  };
}

/** A model that is no better than the mean has learned nothing that holds elsewhere; its credit is said so. */
export function heldOutWarnings({ heldOutLoss, baselineLoss }: HeldOut): string[] {
  if (heldOutLoss < baselineLoss) return [];
  const [loss, baseline] = [heldOutLoss, baselineLoss].map((value) => value.toPrecision(4));
  return [
    `the held-out loss ${loss} is not below ${baseline}, that of always saying the mean: do not rely on this credit`,
  ];
}
