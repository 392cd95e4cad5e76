import { discountedSums, temporalDifferences } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, trainingOptions, trainingSet } from '../cross-fit.js';
import { judge, squaredLoss } from '../held-out.js';
import { inContext } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, NETWORK_PARAMS } from '../learned-params.js';
import { meanOfOtherTurns } from '../means-of-others.js';
import { RETURN_NEEDS, RETURN_PARAMS, turnReturns, turnRewards } from '../turn-rewards.js';

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
  version: 3,
  title: 'GAE with a learned value',
  citation: { paper: 'arXiv:1506.02438' },
  gives: 'advantage',
  conditional: RETURN_NEEDS,
  params: LearnedValueGaeParams,
  target: turnReturns,
  async learn({ device, trajectories, columns, features: { state, turn }, folds, target: turnReturn }, params) {
    const { turnOffsets } = trajectories;
    const set = trainingSet(inContext(state, turn, turnOffsets), turnOffsets, turnReturn);
    const value = await crossFit(device, set, folds, trainingOptions(params, { loss: 'squared' }));
    const reward = turnRewards(trajectories, columns, params);
    const errors = temporalDifferences(reward, value, turnOffsets, params.gamma);
    const level = 'turn';
    return {
      values: discountedSums(errors, turnOffsets, params.gamma * params.lambda),
      explain: {
        learnedValue: { level, values: value },
        turnReturn: { level, values: turnReturn },
      },
      heldOut: judge(value, turnReturn, meanOfOtherTurns(turnReturn, turnOffsets, folds), squaredLoss),
    };
  },
});
