import { clamp, rowsWhere, topRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';
import { clippedLoss, policyRatios } from '../policy-ratio.js';

const LpRegParams = z.strictObject({
  negativeFraction: z
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('share of the punished tokens, the least likely ones, that may be pulled to the proxy'),
  positiveFraction: z.number().min(0).max(1).default(0).describe('the same of the rewarded tokens'),
  klCoef: z.number().nonnegative().default(1).describe('weight of the pull'),
  clipLow: z.number().nonnegative().default(1).describe('the ratio is clipped below 1 - clipLow'),
  clipHigh: z.number().nonnegative().default(9).describe('the ratio is clipped above 1 + clipHigh'),
  ...GROUP_PARAMS,
});

const MAX_PENALTY = 10;

/**
 * The pull of a token towards a distribution that likes it more: 0 where both agree, never negative but for rounding.
 *
 *     q = clip(e^d − d − 1, −10, 10)      d = proxy − updated
 */
export function proxyPenalty(updated: number, proxy: number): number {
  const d = proxy - updated;
  return clamp(Math.expm1(d) - d, -MAX_PENALTY, MAX_PENALTY);
}

/**
 * Lp-Reg: unlikely tokens that are punished, but that a noise-filtered policy likes more, are pulled towards it.
 *
 *     side A < 0 of n tokens: m = max(1, ⌊n · negativeFraction⌋); where m > 1, the m of lowest updated log-probability
 *     regularized: of these, updated < proxy;  the side A > 0 likewise with positiveFraction
 *     loss[k] = −A ρ + klCoef · q if regularized, else max(−A ρ, −A clip(ρ, 1 − clipLow, 1 + clipHigh))
 */
export const lpReg = defineEstimator({
  id: 'lp-reg',
  version: 1,
  title: 'Low-probability regularisation (Lp-Reg)',
  citation: { paper: 'arXiv:2510.03222', code: 'CarlanLark/Lp-Reg-dev:verl/trainer/ppo/core_algos.py@33b27e2' },
  status: 'verified',
  gives: 'loss',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.updatedLogprob', 'token.logprob', 'token.proxyLogprob'],
  accepts: ['token.mask'],
  params: LpRegParams,
  estimate(trajectories, columns, params) {
    const mask = columns['token.mask'];
    const { 'token.updatedLogprob': updated, 'token.proxyLogprob': proxy } = columns;
    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const ratio = policyRatios(updated, columns['token.logprob'], mask);

    const surprisal = Float64Array.from(updated, (logprob) => -logprob);
    const regularized = new Float64Array(updated.length);
    const regularize = (side: Int32Array, fraction: number) => {
      const most = Math.max(1, Math.floor(side.length * fraction));
      if (most === 1) return;
      for (const k of topRows(surprisal, side, most)) if (updated[k] < proxy[k]) regularized[k] = 1;
    };
    regularize(rowsWhere(updated.length, (k) => advantage[k] < 0), params.negativeFraction); // prettier-ignore
    regularize(rowsWhere(updated.length, (k) => advantage[k] > 0), params.positiveFraction); // prettier-ignore

    const penalty = regularized.map((is, k) => (is === 1 ? proxyPenalty(updated[k], proxy[k]) : 0));
    const loss = advantage.map((value, k) => {
      if (regularized[k] === 1) return params.klCoef * penalty[k] - value * ratio[k];
      return clippedLoss(value, ratio[k], params.clipLow, params.clipHigh);
    });
    const level = 'token';
    return {
      level,
      values: loss,
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        regularizedToken: { level, values: regularized },
        klPenalty: { level, values: penalty },
        tokenLoss: { level, values: loss },
      },
    };
  },
});
