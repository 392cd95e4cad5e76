import { discountedSums, whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { notWhitened } from '../not-whitened.js';

const ReinforcePlusPlusParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(1).describe('discount per generated token'),
  whiten: z.boolean().default(true).describe('standardise over all generated tokens of the training step'),
  whitenEpsilon: z.number().nonnegative().default(1e-8).describe('added to the variance, inside the root'),
});

/**
 * REINFORCE++: the discounted return of every token, normalised over the whole batch; no group.
 *
 *     return[k] = r[k] + γ · return[next]      next: the trajectory's next token with mask 1
 *     A[k]      = whiten(return)[k]            over all tokens with mask 1
 *
 * A token with mask 0 gets 0 and costs no discount; its reward is not read. (Older verl forgets the return there.)
 */
export const reinforcePlusPlus = defineEstimator({
  id: 'reinforce-plus-plus',
  version: 1,
  title: 'Batch-normalised token return (REINFORCE++)',
  citation: { paper: 'arXiv:2501.03262', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: false,
  requires: ['token.reward'],
  accepts: ['token.mask'],
  params: ReinforcePlusPlusParams,
  estimate(trajectories, columns, params) {
    const level = 'token';
    const mask = columns['token.mask'] ?? null;
    const offsets = rowsOfTrajectories(trajectories, level);
    const tokenReturn = discountedSums(columns['token.reward'], offsets, params.gamma, mask);
    const explain = { tokenReturn: { level, values: tokenReturn } } as const;
    if (!params.whiten) return { level, values: tokenReturn, explain };

    const { values, count } = whiten(tokenReturn, mask, params.whitenEpsilon);
    return { level, values, explain, warnings: notWhitened(count, 'tokens') };
  },
});
