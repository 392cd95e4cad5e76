import { whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { turnEndAdvantage } from '../generalised-advantage.js';
import { notWhitened } from '../not-whitened.js';

const TurnWiseGaeParams = z.strictObject({
  turnGamma: z
    .number()
    .min(0)
    .max(1)
    .default(0.99)
    .describe("discount per turn: 0.99 in VAGEN's config, 0.95 or 1 in its scripts"),
  lambda: z.number().min(0).max(1).default(1).describe('0: one-step error, 1: return less value'),
  whiten: z.boolean().default(true).describe('standardise over all turns of the training step, each counted once'),
  whitenEpsilon: z.number().nonnegative().default(1e-8).describe('added to the variance, inside the root'),
});

/**
 * Turn-wise GAE: one advantage per turn, read at its last generated token (`turnEndAdvantage`).
 *
 *     A = whiten(A)      over the turns, each once whatever its length
 *
 * The value is that of a prefix which already holds the action, unlike `gae` with turns, whose values come before acting.
 */
export const turnWiseGae = defineEstimator({
  id: 'turn-wise-gae',
  version: 1,
  title: 'GAE over turn ends (turn-wise GAE)',
  citation: { paper: 'arXiv:2510.16907', code: 'JamesKrW/verl:verl/trainer/ppo/core_algos.py@1e25ce1' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['token.reward', 'token.value'],
  accepts: ['token.mask'],
  params: TurnWiseGaeParams,
  estimate(trajectories, columns, { turnGamma, lambda, ...params }) {
    const { advantage, returns, hasEnd } = turnEndAdvantage(
      columns['token.reward'],
      columns['token.value'],
      columns['token.mask'] ?? null,
      trajectories,
      { gamma: turnGamma, lambda },
    );
    const level = 'turn';
    const explain = { turnReturn: { level, values: returns } } as const;
    if (!params.whiten) return { level, values: advantage, explain };
    const { values, count } = whiten(advantage, hasEnd, params.whitenEpsilon);
    return { level, values, explain, warnings: notWhitened(count, 'turns') };
  },
});
