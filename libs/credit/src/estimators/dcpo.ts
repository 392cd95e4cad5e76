import { rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';
import { policyRatios } from '../policy-ratio.js';

const DcpoParams = z.strictObject({
  entropyBase: z.number().default(0.5).describe('where the entropy is held, in nats'),
  currentEntropy: z
    .number()
    .nullable()
    .default(null)
    .describe('entropy of the training step before; null: minus the mean log-probability of this one'),
  temperatureHigh: z.number().positive().default(1.2).describe('of the tempered policy while the entropy is too low'),
  temperatureLow: z.number().positive().default(0.8).describe('of the tempered policy while it is too high'),
  maxDelta: z.number().nonnegative().default(0.1).describe('most that the distance from the base counts'),
  rewardThreshold: z.number().default(0.05).describe('an outcome above it is right'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof DcpoParams>;

/**
 * How much of the update goes to holding the entropy.
 *
 *     a = min(|base − entropy|, maxDelta) / f,  α = a / (1 + a)      f: share of right outcomes; f = 0: α = 0
 */
export function mixingWeight(entropy: number, positiveShare: number, { entropyBase, maxDelta }: Params): number {
  if (!(positiveShare > 0)) return 0;
  const a = Math.min(Math.abs(entropyBase - entropy), maxDelta) / positiveShare;
  return a / (1 + a);
}

/**
 * DCPO: the group advantage, mixed with right outcomes under a hotter or colder policy.
 *
 *     T = temperatureHigh where entropy ≤ entropyBase, else temperatureLow
 *     ρ[k] = e^(tempered[k] − logprob[k]);  b[i] = 1 where R[i] > rewardThreshold, else 0;  f = mean b over the batch
 *     A[k] = (1 − α) · A[i] + α · b[i] · ρ[k]
 */
export const dcpo = defineEstimator({
  id: 'dcpo',
  version: 1,
  title: 'Entropy held by tempered right outcomes (DCPO)',
  citation: { code: '597358816/DCPO:verl/trainer/ppo/ray_trainer.py@33f8073' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.logprob', 'token.temperedLogprob'],
  accepts: ['token.mask'],
  params: DcpoParams,
  estimate(trajectories, columns, params) {
    const mask = columns['token.mask'];
    const { 'trajectory.outcomeReward': reward, 'token.logprob': logprob } = columns;
    const [meanLogprob] = rowMeans(logprob, Int32Array.of(0, logprob.length), mask ?? null);
    const entropy = params.currentEntropy ?? -meanLogprob;
    const isRight = Float64Array.from(reward, (r) => Number(r > params.rewardThreshold));
    const positiveShare = isRight.reduce((sum, b) => sum + b, 0) / Math.max(1, isRight.length);
    const alpha = Number.isNaN(entropy) ? 0 : mixingWeight(entropy, positiveShare, params);

    const base = groupAdvantage(reward, trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const right = onTokens(isRight, trajectories, mask);
    const ratio = policyRatios(columns['token.temperedLogprob'], logprob, mask);
    const temperature = entropy <= params.entropyBase ? params.temperatureHigh : params.temperatureLow;
    const shard = (value: number) => ({ level: 'shard', values: Float64Array.of(value) }) as const;
    return {
      level: 'token',
      values: advantage.map((value, k) => (1 - alpha) * value + (right[k] === 1 ? alpha * ratio[k] : 0)),
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        currentEntropy: shard(entropy),
        temperature: shard(temperature),
        positiveShare: shard(positiveShare),
        mixingWeight: shard(alpha),
        importanceRatio: { level: 'token', values: ratio },
      },
      warnings: params.currentEntropy === null ? ['currentEntropy is not given: taken from this training step'] : [],
    };
  },
});
