import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf, rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { policyRatios } from '../policy-ratio.js';

const UnifiedPolicyGradientParams = z.strictObject({
  variant: z
    .enum(['sft', 'reinforce', 'grpo', 'gspo', 'srftOffline', 'luffyOffline'])
    .default('grpo')
    .describe('which row of the table: advantage, reference probability, mask and rows that take part'),
  clipLow: z.number().nonnegative().default(0.2).describe('a punished token is masked below the ratio 1 - clipLow'),
  clipHigh: z.number().nonnegative().default(0.2).describe('a rewarded token is masked above the ratio 1 + clipHigh'),
  shapeConstant: z.number().positive().default(0.1).describe('c of the shape p / (p + c) of luffyOffline'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof UnifiedPolicyGradientParams>;

/** [trajectories] the advantage of a row of the table. */
function advantageOf(reward: NumericValues, trajectories: TrajectoryBatch, params: Params): Float64Array {
  if (params.variant === 'sft') return new Float64Array(reward.length).fill(1);
  if (params.variant === 'reinforce') return Float64Array.from(reward, (r) => (r > 0 ? 1 : -1));
  return groupAdvantage(reward, trajectories, params);
}

/** [tokens] the ratio that is clipped and divided by: a token's own, or (gspo) the geometric mean of its trajectory. */
function ratiosOf(
  updated: NumericValues,
  old: NumericValues,
  trajectories: TrajectoryBatch,
  mask: NumericValues | undefined,
  isBySequence: boolean,
): Float64Array {
  const own = policyRatios(updated, old, mask);
  if (!isBySequence) return own;
  const offsets = rowsOfTrajectories(trajectories, 'token');
  const difference = Float64Array.from(updated, (logprob, k) => logprob - old[k]);
  const mean = rowMeans(difference, offsets, mask ?? null);
  const trajectoryOf = ownerOf(offsets);
  return own.map((_, k) => (mask?.[k] === 0 ? 0 : Math.exp(mean[trajectoryOf[k]])));
}

/** 0 where PPO's clipping stops the gradient: a rewarded token that is likelier already, a punished one that is rarer. */
function isOpen(advantage: number, ratio: number, { clipLow, clipHigh }: Params): boolean {
  return !((advantage > 0 && ratio > 1 + clipHigh) || (advantage < 0 && ratio < 1 - clipLow));
}

/** The probability that a row of the table divides by. */
function referenceProbability(probability: number, ratio: number, variant: Params['variant']): number {
  if (variant === 'srftOffline' || variant === 'luffyOffline') return 1;
  return variant === 'grpo' || variant === 'gspo' ? probability / ratio : probability;
}

/** Derivative of p / (p + c): the rarer a token, the more. */
function luffyShape(probability: number, c: number): number {
  return c / (probability + c) ** 2;
}

/**
 * The unified policy gradient estimator: what a post-training method multiplies the gradient of log π with.
 *
 *     weight[k] = mask · Â · π_θ[k] / π_ref[k] · shape      π_θ = e^updated, π_old = e^logprob
 *
 *     sft           Â = 1,               π_ref = π_θ        offPolicy rows
 *     reinforce     Â = ±1 (R > 0),      π_ref = π_θ        onPolicy rows
 *     grpo          Â of the group,      π_ref = π_old      onPolicy rows, masked by PPO's clipping
 *     gspo          Â of the group,      π_ref = π_θ / s    the same with s = e^(mean log ratio of the trajectory)
 *     srftOffline   Â of the group,      π_ref = 1          offPolicy rows
 *     luffyOffline  Â of the group,      π_ref = 1          offPolicy rows, shape = c / (π_θ + c)²
 */
export const unifiedPolicyGradient = defineEstimator({
  id: 'unified-policy-gradient',
  version: 1,
  title: 'Unified policy gradient estimator',
  citation: {
    paper: 'arXiv:2509.04419',
    code: 'TsinghuaC3I/Unify-Post-Training:hpt/verl/verl/mix_src/mix_core_alg.py@ae332f5',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.policySource', 'token.updatedLogprob', 'token.logprob'],
  accepts: ['token.mask'],
  kinds: { 'trajectory.policySource': z.enum(['onPolicy', 'offPolicy']) },
  params: UnifiedPolicyGradientParams,
  estimate(trajectories, columns, params) {
    const { variant } = params;
    const mask = columns['token.mask'];
    const { 'token.updatedLogprob': updated, 'trajectory.policySource': source } = columns;
    const isOffline = variant === 'sft' || variant === 'srftOffline' || variant === 'luffyOffline';
    const isClipped = variant === 'grpo' || variant === 'gspo';
    const advantage = advantageOf(columns['trajectory.outcomeReward'], trajectories, params);
    const ratio = ratiosOf(updated, columns['token.logprob'], trajectories, mask, variant === 'gspo');
    const trajectoryOf = ownerOf(rowsOfTrajectories(trajectories, 'token'));

    const open = new Float64Array(updated.length);
    const reference = new Float64Array(updated.length);
    const weight = new Float64Array(updated.length);
    for (let k = 0; k < weight.length; k++) {
      if (mask?.[k] === 0) continue;
      const i = trajectoryOf[k];
      const probability = Math.exp(updated[k]);
      reference[k] = referenceProbability(probability, ratio[k], variant);
      if ((source[i] === 'offPolicy') !== isOffline) continue;
      if (isClipped && !isOpen(advantage[i], ratio[k], params)) continue;
      open[k] = 1;
      const factor = isClipped ? ratio[k] : isOffline && variant !== 'sft' ? probability : 1;
      const shape = variant === 'luffyOffline' ? luffyShape(probability, params.shapeConstant) : 1;
      weight[k] = advantage[i] * factor * shape;
    }
    const level = 'token';
    return {
      level,
      values: weight,
      explain: {
        baseAdvantage: { level: 'trajectory', values: advantage },
        stabilizationMask: { level, values: open },
        referenceProbability: { level, values: reference },
        tokenWeight: { level, values: weight },
      },
    };
  },
});
