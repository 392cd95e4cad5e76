import { clamp, rowMeans, rowsWhere, topRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';

const StareParams = z.strictObject({
  variant: z
    .enum(['O1', 'C2'])
    .default('O1')
    .describe("strengthen rare rewarded tokens; 'C2' softens rare punished ones too"),
  topRatio: z.number().min(0).max(1).default(0.1).describe('share of each side that counts as rare, rounded up'),
  boostWeight: z.number().positive().default(1.1).describe('weight of rare rewarded tokens'),
  dampWeight: z.number().positive().default(0.9).describe('weight of rare punished tokens, in C2'),
  targetEntropy: z.number().default(0.3).describe('nothing is weighed while the mean token entropy is not below it'),
  adaptive: z.boolean().default(false).describe('move both weights one step before use, towards the target'),
  adaptStep: z.number().nonnegative().default(0.01).describe('size of that step'),
  maxBoostWeight: z.number().min(1).default(1.5).describe('where boostWeight stops, when adaptive'),
  minDampWeight: z.number().min(0).max(1).default(0.5).describe('where dampWeight stops, when adaptive'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof StareParams>;

/** The reference rounds up so, up to rounding of the product. */
const ROUND_UP = 0.999999;

/** The weights in use: one step on where they adapt. */
function weightsInUse(entropy: number, params: Params): { boost: number; damp: number } {
  const { boostWeight: boost, dampWeight: damp, targetEntropy, adaptStep, maxBoostWeight, minDampWeight } = params;
  if (!params.adaptive || Number.isNaN(entropy)) return { boost, damp };
  const step = adaptStep * Math.sign(targetEntropy - entropy);
  return { boost: clamp(boost + step, 1, maxBoostWeight), damp: clamp(damp - step, minDampWeight, 1) };
}

/**
 * STARE: rare tokens raise the entropy when rewarded and lower it when punished; they are reweighed while it is low.
 *
 *     T⁺, T⁻ = tokens with A > 0, with A < 0;  of n tokens the max(1, ⌊n · topRatio + 0.999999⌋) least likely are rare
 *     ω[k] = boost on rare tokens of T⁺, damp on those of T⁻ (C2), 1 elsewhere      only if mean entropy < target
 *     A'[k] = A · ω[k]
 */
export const stare = defineEstimator({
  id: 'stare',
  version: 1,
  title: 'Surprisal-weighted advantage under an entropy gate (STARE)',
  citation: { paper: 'arXiv:2606.19236', code: 'hp-luo/STARE:verl/trainer/ppo/core_algos.py@bffb9e7' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.logprob', 'token.entropy'],
  accepts: ['token.mask'],
  params: StareParams,
  estimate(trajectories, columns, params) {
    const mask = columns['token.mask'];
    const entropies = columns['token.entropy'];
    const count = entropies.length;
    const [entropy] = rowMeans(entropies, Int32Array.of(0, count), mask ?? null);
    const gateOn = entropy < params.targetEntropy;
    const { boost, damp } = weightsInUse(entropy, params);

    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const surprisal = Float64Array.from(columns['token.logprob'], (logprob) => -logprob);
    const weight = Float64Array.from(surprisal, (_, k) => (mask?.[k] === 0 ? 0 : 1));
    const weigh = (side: Int32Array, factor: number) => {
      const rare = Math.max(1, Math.floor(side.length * params.topRatio + ROUND_UP));
      for (const k of topRows(surprisal, side, rare)) weight[k] = factor;
    };
    if (gateOn) weigh(rowsWhere(count, (k) => advantage[k] > 0), boost); // prettier-ignore
    if (gateOn && params.variant === 'C2') weigh(rowsWhere(count, (k) => advantage[k] < 0), damp); // prettier-ignore

    const shard = (value: number) => ({ level: 'shard', values: Float64Array.of(value) }) as const;
    return {
      level: 'token',
      values: advantage.map((value, k) => value * weight[k]),
      explain: {
        batchEntropy: shard(entropy),
        gateOn: shard(Number(gateOn)),
        boostWeight: shard(boost),
        dampWeight: shard(damp),
        baseAdvantage: { level: 'trajectory', values: base },
        tokenWeight: { level: 'token', values: weight },
      },
    };
  },
});
