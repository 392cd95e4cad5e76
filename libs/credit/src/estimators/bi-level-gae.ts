import { whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { generalisedAdvantage, turnEndAdvantage } from '../generalised-advantage.js';
import { notWhitened } from '../not-whitened.js';

const BiLevelGaeParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(1).describe('discount per generated token, inside a turn'),
  turnGamma: z.number().min(0).max(1).default(0.95).describe('discount per turn'),
  lambda: z.number().min(0).max(1).default(1).describe('0: one-step error, 1: return less value; of both levels'),
  whiten: z.boolean().default(true).describe('standardise over all generated tokens of the training step'),
  whitenEpsilon: z.number().nonnegative().default(1e-8).describe('added to the variance, inside the root'),
});

/**
 * Bi-level GAE: GAE over turns sets what is to be had at each turn's end, GAE over the tokens of a turn spreads it.
 *
 *     A[t]      as `turnEndAdvantage`, with γ_turn
 *     r'[end t] = A[t] + V[end t]           every other reward as it is
 *     A[k]      = GAE(r', V)[k]             over the tokens of the turn alone, with γ
 *
 * So the last token of a turn has the turn's advantage, and a reward inside a turn does not reach the turns before it.
 * γ = γ_turn = λ = 1 and no reward but at turn ends: plain GAE over tokens.
 */
export const biLevelGae = defineEstimator({
  id: 'bi-level-gae',
  version: 1,
  title: 'GAE over turns, then over their tokens (bi-level GAE)',
  citation: { paper: 'arXiv:2510.16907', code: 'JamesKrW/verl:verl/trainer/ppo/core_algos.py@1e25ce1' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: false,
  requires: ['token.reward', 'token.value'],
  accepts: ['token.mask'],
  params: BiLevelGaeParams,
  estimate(trajectories, columns, { gamma, turnGamma, lambda, ...params }) {
    const { 'token.reward': reward, 'token.value': value } = columns;
    const mask = columns['token.mask'] ?? null;
    const turns = turnEndAdvantage(reward, value, mask, trajectories, { gamma: turnGamma, lambda });
    const shaped = Float64Array.from(reward);
    turns.ends.forEach((end, t) => {
      if (end >= 0) shaped[end] = turns.returns[t];
    });
    const tokens = generalisedAdvantage(shaped, value, trajectories.tokenOffsets, mask, { gamma, lambda });

    const level = 'token';
    const explain = {
      tokenReturn: { level, values: tokens.returns },
      turnReturn: { level: 'turn', values: turns.returns },
    } as const;
    if (!params.whiten) return { level, values: tokens.advantage, explain };
    const { values, count } = whiten(tokens.advantage, mask, params.whitenEpsilon);
    return { level, values, explain, warnings: notWhitened(count, 'tokens') };
  },
});
