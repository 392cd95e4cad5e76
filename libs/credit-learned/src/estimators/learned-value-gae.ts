import { discountedSums, ownerOf, temporalDifferences } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, meansOfOthers, trainingOptions } from '../cross-fit.js';
import { foldsByGroup, tooLittle } from '../folds.js';
import { heldOutColumns, heldOutWarnings, judge, nothing, squaredLoss } from '../held-out.js';
import { defineLearned, FOLD_PARAMS, NETWORK_PARAMS } from '../learned-estimator.js';
import { inContext, turnFeatures } from '../turn-features.js';

const LearnedValueGaeParams = z.strictObject({
  rewards: z
    .enum(['outcome', 'turn'])
    .default('outcome')
    .describe('the outcome at the last turn and nothing before it, or the reward of each turn'),
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn'),
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
  version: 1,
  title: 'GAE with a learned value',
  citation: { paper: 'arXiv:1506.02438' },
  status: 'own',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.state', 'turn.action'],
  accepts: ['turn.embedding'],
  conditional: [
    { when: { rewards: 'outcome' }, requires: ['trajectory.outcomeReward'] },
    { when: { rewards: 'turn' }, requires: ['turn.reward'] },
  ],
  kinds: { 'turn.embedding': z.array(z.number()) },
  texts: true,
  params: LearnedValueGaeParams,
  async learn(device, trajectories, columns, params) {
    const { turnOffsets, stateKey } = trajectories;
    const trajectoryOf = ownerOf(turnOffsets);
    const isLast = (t: number) => t + 1 === turnOffsets[trajectoryOf[t] + 1];
    const reward =
      params.rewards === 'turn'
        ? Float64Array.from(columns['turn.reward'])
        : Float64Array.from(trajectoryOf, (i, t) => (isLast(t) ? columns['trajectory.outcomeReward'][i] : 0));
    const turnReturn = discountedSums(reward, turnOffsets, params.gamma);
    const why = tooLittle(trajectories, turnReturn, params.minTrajectories);
    if (why) return nothing(stateKey.length, why);

    const folds = foldsByGroup(trajectories, params.folds, params.seed);
    const { state, turn } = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
    const set = {
      ...inContext(state, turn, turnOffsets),
      offsets: turnOffsets,
      targets: Float32Array.from(turnReturn),
    };
    const value = await crossFit(device, set, folds, trainingOptions(params, { loss: 'squared' }));
    const errors = temporalDifferences(reward, value, turnOffsets, params.gamma);
    const level = 'turn';

    const turns = Float64Array.from({ length: trajectories.ids.length }, (_, i) => turnOffsets[i + 1] - turnOffsets[i]);
    const meanReturn = turns.map((count, i) => {
      const sum = turnReturn.subarray(turnOffsets[i], turnOffsets[i + 1]).reduce((total, each) => total + each, 0);
      return count > 0 ? sum / count : 0;
    });
    const means = meansOfOthers(meanReturn, turns, folds);
    const baseline = Float64Array.from(trajectoryOf, (i) => means[i]);
    const heldOut = judge(value, turnReturn, baseline, squaredLoss);
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
