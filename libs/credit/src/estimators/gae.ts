import { whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { generalisedAdvantage } from '../generalised-advantage.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { notWhitened } from '../not-whitened.js';

const GaeParams = z.strictObject({
  granularity: z
    .enum(['token', 'turn'])
    .default('token')
    .describe("a position is a generated token ('token') or a turn, valued before acting ('turn')"),
  gamma: z.number().min(0).max(1).default(1).describe('discount per position'),
  lambda: z.number().min(0).max(1).default(1).describe('0: one-step error, 1: return less value'),
  whiten: z.boolean().default(true).describe('standardise over all positions of the training step'),
  whitenEpsilon: z.number().nonnegative().default(1e-8).describe('added to the variance, inside the root'),
});

/** Generalised advantage estimation (`generalisedAdvantage`) over tokens, or over turns valued before acting. */
export const gae = defineEstimator({
  id: 'gae',
  version: 1,
  title: 'Generalised advantage estimation (GAE)',
  citation: { paper: 'arXiv:1506.02438', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token', 'turn'],
  groupRelative: false,
  requires: [],
  accepts: [],
  conditional: [
    { when: { granularity: 'token' }, requires: ['token.reward', 'token.value'], accepts: ['token.mask'] },
    { when: { granularity: 'turn' }, requires: ['turn.reward', 'turn.valueEstimate'] },
  ],
  params: GaeParams,
  estimate(trajectories, columns, params) {
    const level = params.granularity;
    const isToken = level === 'token';
    const reward = columns[isToken ? 'token.reward' : 'turn.reward'];
    const value = columns[isToken ? 'token.value' : 'turn.valueEstimate'];
    const mask = columns['token.mask'] ?? null;
    const offsets = rowsOfTrajectories(trajectories, level);
    const { advantage, returns } = generalisedAdvantage(reward, value, offsets, mask, params);

    const explain = { [isToken ? 'tokenReturn' : 'turnReturn']: { level, values: returns } };
    if (!params.whiten) return { level, values: advantage, explain };
    const { values, count } = whiten(advantage, mask, params.whitenEpsilon);
    return { level, values, explain, warnings: notWhitened(count, isToken ? 'tokens' : 'turns') };
  },
});
