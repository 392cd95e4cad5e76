import { quantiles, rowsWhere, topRows, type Numbers } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';

const EntropyForkMaskParams = z.strictObject({
  variant: z
    .enum(['topk', 'quantile'])
    .default('topk')
    .describe("so many tokens, or all from the quantile on ('quantile', TRL)"),
  topRatio: z.number().min(0).max(1).default(0.2).describe('share of the generated tokens that is kept'),
  ...GROUP_PARAMS,
});

/**
 * The tokens at which the policy was least sure.
 *
 *     topk:      the max(1, ⌊topRatio · N⌋) of highest entropy; of equals the first
 *     quantile:  all with entropy ≥ the (1 − topRatio) quantile, interpolated linearly
 *
 * @param entropy [tokens]
 * @param generated rows of the N generated tokens
 * @returns rows, ascending
 */
export function forkTokens(
  entropy: Numbers,
  generated: Int32Array,
  { variant, topRatio }: Pick<z.infer<typeof EntropyForkMaskParams>, 'variant' | 'topRatio'>,
): Int32Array {
  if (variant === 'topk') return topRows(entropy, generated, Math.max(1, Math.floor(topRatio * generated.length)));
  const [threshold] = quantiles(Float64Array.from(generated, (k) => entropy[k]), [1 - topRatio]); // prettier-ignore
  return generated.filter((k) => entropy[k] >= threshold);
}

/**
 * Only the tokens of highest entropy, the forks, carry the group advantage.
 *
 *     A[k] = A_i where k is a fork of the batch (forkTokens), else 0
 */
export const entropyForkMask = defineEstimator({
  id: 'entropy-fork-mask',
  version: 1,
  title: 'Advantage on high-entropy tokens only (80/20)',
  citation: { paper: 'arXiv:2506.01939', code: 'CarlanLark/Lp-Reg-dev:verl/trainer/ppo/core_algos.py@33b27e2' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.entropy'],
  accepts: ['token.mask'],
  params: EntropyForkMaskParams,
  estimate(trajectories, columns, params) {
    const mask = columns['token.mask'];
    const entropy = columns['token.entropy'];
    const generated = rowsWhere(entropy.length, (k) => mask?.[k] !== 0);
    const forks = forkTokens(entropy, generated, params);
    const isFork = new Float64Array(entropy.length);
    for (const k of forks) isFork[k] = 1;

    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const level = 'token';
    return {
      level,
      values: onTokens(base, trajectories, mask).map((value, k) => (isFork[k] === 1 ? value : 0)),
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        forkMask: { level, values: isFork },
        keptTokens: { level: 'shard', values: Float64Array.of(forks.length) },
      },
    };
  },
});
