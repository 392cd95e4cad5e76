import type { TrajectoryBatch } from '#lib/dataset';
import { repeatedPairLabels, segmentMoments } from '#lib/numeric';
import type { Rows } from '#lib/tensor';
import { z } from 'zod';
import { crossFit, trainingOptions, trainingSet } from '../cross-fit.js';
import { judge, squaredLoss } from '../held-out.js';
import { inContext } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, NETWORK_PARAMS } from '../learned-params.js';
import { meanOfOtherTurns } from '../means-of-others.js';
import { RETURN_NEEDS, RETURN_PARAMS, turnReturns } from '../turn-rewards.js';

const LearnedStepQParams = z.strictObject({
  baseline: z
    .enum(['value', 'siblings'])
    .default('value')
    .describe(
      "what Q is measured against: a value learned of the state, or the mean Q of the turns taken in it ('siblings')",
    ),
  ...RETURN_PARAMS,
  ...FOLD_PARAMS,
  ...NETWORK_PARAMS,
});

/**
 * Step-level Q: what is to be expected of an action in its state, learned from the returns of other groups.
 *
 *     Q[t] = f(state t, action t, the turns before it)      fitted to G[t] = r[t] + γ G[t+1] by least squares
 *     V[t] = g(state t, the turns before it)                fitted to the same returns                             'value'
 *          = mean of Q over the turns of the group in the same state                                              'siblings'
 *     A[t] = Q[t] − V[t]
 */
export const learnedStepQ = defineLearned({
  id: 'learned-step-q',
  version: 3,
  title: 'Step-level Q, learned',
  citation: { paper: 'arXiv:2409.09345' },
  gives: 'advantage',
  conditional: RETURN_NEEDS,
  params: LearnedStepQParams,
  target: turnReturns,
  async learn({ device, trajectories, features: { state, turn }, folds, target: turnReturn }, params) {
    const { turnOffsets } = trajectories;
    const options = trainingOptions(params, { loss: 'squared' });
    const learnedOf = (now: Rows) =>
      crossFit(device, trainingSet(inContext(now, turn, turnOffsets), turnOffsets, turnReturn), folds, options);
    const q = await learnedOf(turn);
    const baseline = params.baseline === 'value' ? await learnedOf(state) : meanInState(q, trajectories);

    const level = 'turn';
    return {
      values: q.map((value, t) => value - baseline[t]),
      explain: {
        learnedQ: { level, values: q },
        stateBaseline: { level, values: baseline },
        turnReturn: { level, values: turnReturn },
      },
      heldOut: judge(q, turnReturn, meanOfOtherTurns(turnReturn, turnOffsets, folds), squaredLoss),
    };
  },
});

/** The mean over the turns of the same group that were taken in the same state. @returns [turns] */
function meanInState(q: Float64Array, { groupOf, turnOffsets, stateKey }: TrajectoryBatch): Float64Array {
  const { labels, count } = repeatedPairLabels(groupOf, turnOffsets, stateKey);
  const { mean } = segmentMoments(q, null, labels, count);
  return Float64Array.from(labels, (label) => mean[label]);
}
