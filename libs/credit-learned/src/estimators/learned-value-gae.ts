import { discountedSums, temporalDifferences } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, meanOfOtherTurns, trainingOptions } from '../cross-fit.js';
import { foldsOf, tooLittle } from '../folds.js';
import { heldOutColumns, heldOutWarnings, judge, nothing, squaredLoss } from '../held-out.js';
import { defineLearned, FOLD_PARAMS, NETWORK_PARAMS } from '../learned-estimator.js';
import { inContext, turnFeatures } from '../turn-features.js';
import { RETURN_NEEDS, RETURN_PARAMS, turnRewards } from '../turn-rewards.js';

const LearnedValueGaeParams = z.strictObject({
  ...RETURN_PARAMS,
  lambda: z.number().min(0).max(1).default(0.95).describe('trace decay per turn'),
  ...FOLD_PARAMS,
  ...NETWORK_PARAMS,
});

/**
 * GAE over values that a model learned from the returns of other groups, where the trainer logged none.
 *
 *     V[t] = f(state t, the turns before it)      fitted to G[t] = r[t] + γ G[t+1] by least squares
 *     δ[t] = r[t] + γ V[t+1] − V[t]               V = 0 after the last turn
 *     A[t] = δ[t] + γ λ A[t+1]
 */
export const learnedValueGae = defineLearned({
  id: 'learned-value-gae',
  version: 2,
  title: 'GAE with a learned value',
  citation: { paper: 'arXiv:1506.02438' },
  status: 'own',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.state', 'turn.action'],
  accepts: ['turn.embedding'],
  conditional: RETURN_NEEDS,
  kinds: { 'turn.embedding': z.array(z.number()) },
  texts: true,
  params: LearnedValueGaeParams,
  async learn(device, trajectories, columns, params) {
    const { turnOffsets, stateKey } = trajectories;
    const reward = turnRewards(trajectories, columns, params.rewards);
    const turnReturn = discountedSums(reward, turnOffsets, params.gamma);
    const why = tooLittle(trajectories, turnReturn, params);
    if (why) return nothing(stateKey.length, why);

    const folds = foldsOf(trajectories, params);
    const { state, turn } = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
    const set = {
      ...inContext(state, turn, turnOffsets),
      offsets: turnOffsets,
      targets: Float32Array.from(turnReturn),
    };
    const value = await crossFit(device, set, folds, trainingOptions(params, { loss: 'squared' }));
    const errors = temporalDifferences(reward, value, turnOffsets, params.gamma);
    const level = 'turn';
    const heldOut = judge(value, turnReturn, meanOfOtherTurns(turnReturn, turnOffsets, folds), squaredLoss);
    return {
      level,
      values: discountedSums(errors, turnOffsets, params.gamma * params.lambda),
      explain: {
        learnedValue: { level, values: value },
        turnReturn: { level, values: turnReturn },
        ...heldOutColumns(heldOut),
      },
      warnings: heldOutWarnings(heldOut),
    };
  },
});
