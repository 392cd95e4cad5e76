import type { TrajectoryBatch } from '#lib/dataset';
import { discountedSums, repeatedPairLabels, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, meanOfOtherTurns, trainingOptions } from '../cross-fit.js';
import { foldsOf, tooLittle } from '../folds.js';
import { heldOutColumns, heldOutWarnings, judge, nothing, squaredLoss } from '../held-out.js';
import { defineLearned, FOLD_PARAMS, NETWORK_PARAMS } from '../learned-estimator.js';
import { inContext, turnFeatures } from '../turn-features.js';
import { RETURN_NEEDS, RETURN_PARAMS, turnRewards } from '../turn-rewards.js';

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
  version: 2,
  title: 'Step-level Q, learned',
  citation: { paper: 'arXiv:2409.09345' },
  status: 'own',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.state', 'turn.action'],
  accepts: ['turn.embedding'],
  conditional: RETURN_NEEDS,
  kinds: { 'turn.embedding': z.array(z.number()) },
  texts: true,
  params: LearnedStepQParams,
  async learn(device, trajectories, columns, params) {
    const { turnOffsets, stateKey } = trajectories;
    const turnReturn = discountedSums(turnRewards(trajectories, columns, params.rewards), turnOffsets, params.gamma);
    const why = tooLittle(trajectories, turnReturn, params);
    if (why) return nothing(stateKey.length, why);

    const folds = foldsOf(trajectories, params);
    const { state, turn } = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
    const options = trainingOptions(params, { loss: 'squared' });
    const rest = { offsets: turnOffsets, targets: Float32Array.from(turnReturn) };
    const q = await crossFit(device, { ...inContext(turn, turn, turnOffsets), ...rest }, folds, options);
    const baseline =
      params.baseline === 'value'
        ? await crossFit(device, { ...inContext(state, turn, turnOffsets), ...rest }, folds, options)
        : meanInState(q, trajectories);

    const heldOut = judge(q, turnReturn, meanOfOtherTurns(turnReturn, turnOffsets, folds), squaredLoss);
    const level = 'turn';
    return {
      level,
      values: q.map((value, t) => value - baseline[t]),
      explain: {
        learnedQ: { level, values: q },
        stateBaseline: { level, values: baseline },
        turnReturn: { level, values: turnReturn },
        ...heldOutColumns(heldOut),
      },
      warnings: heldOutWarnings(heldOut),
    };
  },
});

/** The mean over the turns of the same group that were taken in the same state. @returns [turns] */
function meanInState(q: Float64Array, { groupOf, turnOffsets, stateKey }: TrajectoryBatch): Float64Array {
  const { labels, count } = repeatedPairLabels(groupOf, turnOffsets, stateKey);
  const { mean } = segmentMoments(q, null, labels, count);
  return Float64Array.from(labels, (label) => mean[label]);
}
