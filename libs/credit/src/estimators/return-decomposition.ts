import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { ownerOf, ridgeWeights, rowLengths, rowSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';

const ReturnDecompositionParams = z.strictObject({
  target: z
    .enum(['sum', 'mean'])
    .default('sum')
    .describe("what a trajectory's rewards are fitted to: their sum to R, or their mean to R / T as the reference"),
  ridge: z.number().positive().default(1e-3).describe('weight of the squared weights in the fit'),
  subsets: z
    .array(z.array(z.int().nonnegative()))
    .nullable()
    .default(null)
    .describe("turn indices drawn per trajectory, for the reference's randomised loss"),
});

/** Turn features: which action it took (names sorted), and one number. */
interface Features {
  readonly names: readonly string[];
  /** [turns] index of its action among the names */
  readonly actionOf: Int32Array;
}

function featuresOf({ actionKey, texts }: TrajectoryBatch): Features {
  const present = [...new Set(actionKey)].sort((a, b) => (texts!.actions[a] < texts!.actions[b] ? -1 : 1));
  const place = new Map(present.map((key, index) => [key, index]));
  return {
    names: [...present.map((key) => texts!.actions[key]), 'turnFeature'],
    actionOf: actionKey.map((key) => place.get(key)!),
  };
}

/**
 * A row per trajectory: how often it took each action, and the sum of its turn features; divided by its turns for means.
 *
 * @returns [trajectories × features]
 */
function trajectoryRows(
  { names, actionOf }: Features,
  turnFeature: NumericValues,
  turnOffsets: Int32Array,
  divisor: Float64Array,
): Float64Array {
  const width = names.length;
  const rows = new Float64Array(divisor.length * width);
  ownerOf(turnOffsets).forEach((i, t) => {
    rows[i * width + actionOf[t]] += 1 / divisor[i];
    rows[i * width + width - 1] += turnFeature[t] / divisor[i];
  });
  return rows;
}

/**
 * The reference's loss on drawn turns, K of a trajectory's T.
 *
 *     loss = mean_i (mean of r over the subset − R[i] / T)²
 *     variance = mean_i (sample variance of r over the subset · c / K)      c = 1 − K/T where K ≤ T, else 1; T = 1: 0
 *
 * @param reward [turns] r, of the fitted model
 */
function subsetLosses(
  reward: Float64Array,
  outcome: NumericValues,
  turnOffsets: Int32Array,
  subsets: readonly (readonly number[])[],
) {
  let loss = 0;
  let variance = 0;
  subsets.forEach((subset, i) => {
    const turns = turnOffsets[i + 1] - turnOffsets[i];
    const drawn = subset.map((t) => reward[turnOffsets[i] + t]);
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    loss += (mean - outcome[i] / turns) ** 2 / subsets.length;
    if (turns === 1 || drawn.length < 2) return;
    const share = drawn.length <= turns ? 1 - drawn.length / turns : 1;
    const squares = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    variance += ((squares / (drawn.length - 1)) * share) / drawn.length / subsets.length;
  });
  return { subsetLoss: loss, subsetVariance: variance, subsetTotalLoss: loss - variance };
}

function assertDrawnFrom(subsets: readonly (readonly number[])[], turnOffsets: Int32Array): void {
  const fits = (subset: readonly number[], i: number) =>
    subset.length > 0 && subset.every((t) => t < turnOffsets[i + 1] - turnOffsets[i]);
  if (subsets.length === turnOffsets.length - 1 && subsets.every(fits)) return;
  throw new RecreditError('params.invalid', 'return-decomposition: subsets names turns of every trajectory, in order');
}

/**
 * Return decomposition: the linear reward of turn features whose sum explains the outcome best.
 *
 *     r[t] = w · x[t]
 *     w minimises Σ_i (Σ_t r[t] − R[i])² + ridge · |w|²           target 'mean': (mean_t r[t] − R[i] / T)²
 *
 * x is the action, one-hot, and the number turnFeature. No intercept. A trajectory without turns takes no part.
 */
export const returnDecomposition = defineEstimator({
  id: 'return-decomposition',
  version: 1,
  title: 'Return decomposition by least squares (RRD)',
  citation: {
    paper: 'arXiv:2111.13485',
    code: 'Stilwell-Git/Randomized-Return-Decomposition:algorithm/rrd.py@bc80473',
  },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.action', 'turn.turnFeature', 'trajectory.outcomeReward'],
  accepts: [],
  texts: true,
  params: ReturnDecompositionParams,
  estimate(trajectories, columns, { target, ridge, subsets }) {
    const { turnOffsets } = trajectories;
    const { 'turn.turnFeature': turnFeature, 'trajectory.outcomeReward': outcome } = columns;
    if (subsets) assertDrawnFrom(subsets, turnOffsets);
    const features = featuresOf(trajectories);
    const turns = rowLengths(turnOffsets);
    const divisor = target === 'mean' ? turns : turns.map(() => 1);
    const targets = divisor.map((by, i) => (turns[i] > 0 ? outcome[i] / by : 0));
    const rows = trajectoryRows(features, turnFeature, turnOffsets, divisor);
    const weights = ridgeWeights(rows, targets, features.names.length, ridge);

    const level = 'turn';
    const last = weights[weights.length - 1];
    const values = Float64Array.from(turnFeature, (x, t) => weights[features.actionOf[t]] + last * x);
    const predicted = rowSums(values, turnOffsets);
    const loss = predicted.reduce(
      (sum, value, i) => sum + (turns[i] > 0 ? (value / divisor[i] - targets[i]) ** 2 : 0),
      0,
    );
    const ofShard = (list: Column['values']): Column => ({
      level: 'shard',
      values: list,
      offsets: Int32Array.of(0, list.length),
    });
    const losses = {
      estimatorLoss: loss / turns.filter((count) => count > 0).length,
      ...(subsets && subsetLosses(values, outcome, turnOffsets, subsets)),
    };
    return {
      level,
      values,
      explain: {
        featureNames: ofShard(features.names),
        featureWeights: ofShard(weights),
        turnReward: { level, values },
        predictedReturn: { level: 'trajectory', values: predicted },
        ...Object.fromEntries(
          Object.entries(losses).map(([name, value]) => [name, { level: 'shard', values: Float64Array.of(value) }]),
        ),
      },
    };
  },
});
