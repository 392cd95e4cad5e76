import { rowsWhere, topRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';
import { policyRatios } from '../policy-ratio.js';
import { tokenCovariances } from '../token-covariance.js';

const KlCovParams = z.strictObject({
  topPercent: z
    .number()
    .min(0)
    .max(100)
    .default(0.2)
    .describe('PER CENT of the generated tokens that are held back, at least one token'),
  klCoef: z.number().nonnegative().default(1).describe('weight of the distance that a held-back token pays'),
  ...GROUP_PARAMS,
});

/**
 * KL-Cov: the tokens whose likelihood and advantage go together most make the entropy collapse; they pay for moving.
 *
 *     cov[k]  = (A[k] − mean A)(updated[k] − mean updated)      means over the N generated tokens of the batch
 *     chosen: the max(1, ⌊N · min(topPercent, N) / 100⌋) largest that are not 0
 *     loss[k] = −A[k] · ρ[k] + klCoef · |updated[k] − old[k]| if chosen      ρ = e^(updated − old), never clipped
 *
 * A covariance of exactly 0 is never chosen, so that equal rewards lose exactly 0; the reference takes any there.
 */
export const klCov = defineEstimator({
  id: 'kl-cov',
  version: 1,
  title: 'Distance penalty on the most covariant tokens (KL-Cov)',
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
  params: KlCovParams,
  estimate(trajectories, columns, params) {
    const mask = columns['token.mask'];
    const { 'token.updatedLogprob': updated, 'token.logprob': old } = columns;
    const generated = rowsWhere(updated.length, (k) => mask?.[k] !== 0);
    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const covariance = tokenCovariances(advantage, updated, generated, 0);

    const count = generated.length;
    const most = Math.max(1, Math.floor((count * Math.min(params.topPercent, count)) / 100));
    const selected = new Float64Array(updated.length);
    for (const k of topRows(covariance, generated, most)) selected[k] = covariance[k] === 0 ? 0 : 1;

    const ratio = policyRatios(updated, old, mask);
    const loss = advantage.map((value, k) => {
      const penalty = selected[k] === 1 ? params.klCoef * Math.abs(updated[k] - old[k]) : 0;
      return penalty - value * ratio[k];
    });
    const level = 'token';
    return {
      level,
      values: loss,
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        covariance: { level, values: covariance },
        selectedToken: { level, values: selected },
        tokenLoss: { level, values: loss },
      },
    };
  },
});
