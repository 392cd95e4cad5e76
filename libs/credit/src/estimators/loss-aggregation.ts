import { repeatRows, rowLengths } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { rowsOfTrajectories } from '../level-rows.js';

const LossAggregationParams = z.strictObject({
  variant: z
    .enum(['tokenMean', 'tokenSum', 'seqMeanTokenSum', 'seqMeanTokenMean', 'seqMeanTokenSumNorm'])
    .default('tokenMean')
    .describe("how a batch of token losses becomes one number: verl's loss_agg_mode"),
  lossScaleFactor: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('divisor of seqMeanTokenSumNorm; null: the longest response of the training step, in tokens'),
});

/** verl adds it to a length before it divides. */
const LENGTH_EPSILON = 1e-8;

/**
 * How much one generated token counts in the update.
 *
 *     tokenMean             1 / Σ L
 *     tokenSum              1
 *     seqMeanTokenSum       1 / N
 *     seqMeanTokenMean      1 / (N · (L[i] + 1e-8))
 *     seqMeanTokenSumNorm   1 / (N · lossScaleFactor)
 *
 * L[i]: generated tokens of trajectory i; N: trajectories that have one. A trajectory without one has no token to weigh.
 *
 * @param length [trajectories] generated tokens
 * @param scaleFactor divisor of seqMeanTokenSumNorm
 * @returns [trajectories] the weight of each of its generated tokens
 */
export function tokenWeights(
  length: Float64Array,
  variant: z.infer<typeof LossAggregationParams>['variant'],
  scaleFactor: number,
): Float64Array {
  const tokens = length.reduce((sum, own) => sum + own, 0);
  const sequences = length.filter((own) => own > 0).length;
  const divisor: Record<typeof variant, (own: number) => number> = {
    tokenMean: () => tokens,
    tokenSum: () => 1,
    seqMeanTokenSum: () => sequences,
    seqMeanTokenMean: (own) => sequences * (own + LENGTH_EPSILON),
    seqMeanTokenSumNorm: () => sequences * scaleFactor,
  };
  return length.map((own) => (own > 0 ? 1 / divisor[variant](own) : 0));
}

export const lossAggregation = defineEstimator({
  id: 'loss-aggregation',
  version: 1,
  title: 'Weight of a token in the loss (loss aggregation)',
  citation: { code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'weight',
  levels: ['token'],
  groupRelative: false,
  requires: ['token.mask'],
  accepts: [],
  params: LossAggregationParams,
  estimate(trajectories, columns, { variant, lossScaleFactor }) {
    const mask = columns['token.mask'];
    const offsets = rowsOfTrajectories(trajectories, 'token');
    const length = rowLengths(offsets, mask);
    const longest = rowLengths(offsets).reduce((most, own) => Math.max(most, own), 0);
    const weights = tokenWeights(length, variant, lossScaleFactor ?? longest);
    const values = repeatRows(weights, offsets, mask);
    return {
      level: 'token',
      values,
      explain: {
        tokenWeight: { level: 'token', values },
        trajectoryWeight: { level: 'trajectory', values: weights.map((weight, i) => weight * length[i]) },
      },
    };
  },
});
