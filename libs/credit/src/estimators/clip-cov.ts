import type { TrajectoryBatch } from '#lib/dataset';
import { hashUnit, ownerOf, rowsWhere, topRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { onTokens } from '../on-tokens.js';
import { clippedHalf, clippedLoss, policyRatios } from '../policy-ratio.js';
import { tokenCovariances } from '../token-covariance.js';

const ClipCovParams = z.strictObject({
  clipLow: z.number().nonnegative().default(1).describe('the ratio is clipped below 1 - clipLow'),
  clipHigh: z.number().nonnegative().default(1).describe('the ratio is clipped above 1 + clipHigh'),
  maskFraction: z
    .number()
    .min(0)
    .max(1)
    .default(0.0002)
    .describe('share of the generated tokens that may be left out, at least one token'),
  covLow: z.number().default(1).describe('candidates have a covariance above it'),
  covHigh: z.number().default(5).describe('and below it'),
  seed: z.int().nonnegative().default(0).describe('which candidates are left out where there are more than may be'),
  ...GROUP_PARAMS,
});

/** The reference adds it to the number of tokens in its means. */
const COUNT_EPSILON = 1e-8;

/** [tokens] a draw between 0 and 1 for each row named, that depends on its trajectory's id, its place there and the seed. */
function draws(trajectories: TrajectoryBatch, rows: Int32Array, seed: number): Float64Array {
  const offsets = rowsOfTrajectories(trajectories, 'token');
  const trajectoryOf = ownerOf(offsets);
  const drawn = new Float64Array(trajectoryOf.length);
  for (const k of rows) {
    const i = trajectoryOf[k];
    drawn[k] = hashUnit(`${trajectories.ids[i]}\n${k - offsets[i]}`, seed);
  }
  return drawn;
}

/**
 * Clip-Cov: a few of the tokens whose likelihood and advantage go together, but not too much, are left out of the loss.
 *
 *     excluded: −A · clip(ρ, 1 − clipLow, 1 + clipHigh) > −A · ρ      clipped already
 *     cov[k]  = (A[k] − Σ A / (N + 1e-8))(updated[k] − Σ updated / (N + 1e-8))      0 if excluded
 *     masked: at most max(⌊maskFraction · N⌋, 1) of the tokens with covLow < cov < covHigh
 *     loss[k] = max(−A ρ, −A clip(ρ)), 0 if masked
 */
export const clipCov = defineEstimator({
  id: 'clip-cov',
  version: 1,
  title: 'Loss without some of the covariant tokens (Clip-Cov)',
  citation: {
    paper: 'arXiv:2505.22617',
    code: 'PRIME-RL/Entropy-Mechanism-of-RL:verl/trainer/ppo/core_algos.py@8850579',
  },
  status: 'verified',
  gives: 'loss',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.updatedLogprob', 'token.logprob'],
  accepts: ['token.mask'],
  params: ClipCovParams,
  estimate(trajectories, columns, params) {
    const { clipLow, clipHigh, covLow, covHigh } = params;
    const mask = columns['token.mask'];
    const { 'token.updatedLogprob': updated, 'token.logprob': old } = columns;
    const generated = rowsWhere(updated.length, (k) => mask?.[k] !== 0);
    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const ratio = policyRatios(updated, old, mask);

    const excluded = advantage.map((value, k) =>
      Number(clippedHalf(value, ratio[k], clipLow, clipHigh) > -value * ratio[k]),
    );
    const covariance = tokenCovariances(advantage, updated, generated, COUNT_EPSILON).map((value, k) =>
      excluded[k] === 1 ? 0 : value,
    );
    const candidates = generated.filter((k) => covLow < covariance[k] && covariance[k] < covHigh && excluded[k] === 0);
    const budget = Math.max(Math.floor(params.maskFraction * generated.length), 1);
    const masked = new Float64Array(updated.length);
    for (const k of topRows(draws(trajectories, candidates, params.seed), candidates, budget)) masked[k] = 1;

    const loss = advantage.map((value, k) => (masked[k] === 1 ? 0 : clippedLoss(value, ratio[k], clipLow, clipHigh)));
    const level = 'token';
    return {
      level,
      values: loss,
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        excludedToken: { level, values: excluded },
        covariance: { level, values: covariance },
        maskedToken: { level, values: masked },
        maskedBudget: { level: 'shard', values: Float64Array.of(budget) },
        tokenLoss: { level, values: loss },
      },
    };
  },
});
