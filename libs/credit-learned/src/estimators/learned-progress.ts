import { clamp, ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, trainingOptions, trainingSet } from '../cross-fit.js';
import { judge, squaredLoss } from '../held-out.js';
import { inContext } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, NETWORK_PARAMS } from '../learned-params.js';
import { meanOfOtherTurns, meansOfOthers } from '../means-of-others.js';

const LearnedProgressParams = z.strictObject({
  target: z
    .enum(['outcome', 'success'])
    .default('outcome')
    .describe('what is predicted: the outcome reward, or the flag success'),
  last: z
    .enum(['outcome', 'predicted'])
    .default('outcome')
    .describe('what stands after the last turn: how the trajectory ended, or what was predicted of it'),
  ...FOLD_PARAMS,
  ...NETWORK_PARAMS,
});

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
/** −y ln p − (1 − y) ln(1 − p). What was certain and wrong costs 14 or so: nearly all of a step may end alike. */
const crossEntropy = (p: number, y: number) => {
  const chance = clamp(p, LEAST_CHANCE, 1 - LEAST_CHANCE);
  return -y * Math.log(chance) - (1 - y) * Math.log(1 - chance);
};
const LEAST_CHANCE = 1e-6;

/**
 * A predictor of how the trajectory ends, asked after every turn: what a turn changes in the answer is its credit.
 *
 *     p[t] = f(turn t, the turns before it)      trained on trajectories of other groups
 *     A[t] = p[t] − p[t−1]                       p[−1]: the mean end of those trajectories
 *                                                p[T−1], when last is 'outcome': the end itself, so Σ A = end − p[−1]
 *
 * Ends that lie in 0 .. 1 are predicted as chances (logistic loss), others as numbers (squared loss).
 */
export const learnedProgress = defineLearned({
  id: 'learned-progress',
  version: 4,
  title: 'Learned success predictor, credit by its differences',
  citation: { work: 'TRACE, a success predictor over prefixes of a trajectory; this form is our own' },
  gives: 'advantage',
  conditional: [
    { when: { target: 'outcome' }, requires: ['trajectory.outcomeReward'] },
    { when: { target: 'success' }, requires: ['trajectory.success'] },
  ],
  params: LearnedProgressParams,
  target: (_, columns, { target }) =>
    Float64Array.from(columns[target === 'outcome' ? 'trajectory.outcomeReward' : 'trajectory.success']),
  async learn({ device, trajectories: { turnOffsets }, features: { turn }, folds, target: end }, params) {
    const isChance = end.every((value) => value >= 0 && value <= 1);
    const trajectoryOf = ownerOf(turnOffsets);
    const endOf = Float64Array.from(trajectoryOf, (i) => end[i]);
    const set = trainingSet(inContext(turn, turn, turnOffsets), turnOffsets, endOf);
    const options = trainingOptions(params, { loss: isChance ? 'logistic' : 'squared' });
    const outputs = await crossFit(device, set, folds, options);
    const predicted = isChance ? outputs.map(sigmoid) : outputs;

    const start = meansOfOthers(end, new Float64Array(end.length).fill(1), folds);
    const isEnd = (t: number) => params.last === 'outcome' && t + 1 === turnOffsets[trajectoryOf[t] + 1];
    const level = 'turn';
    const values = predicted.map((p, t) => {
      const i = trajectoryOf[t];
      return (isEnd(t) ? end[i] : p) - (t === turnOffsets[i] ? start[i] : predicted[t - 1]);
    });
    const baseline = meanOfOtherTurns(endOf, turnOffsets, folds);
    return {
      values,
      explain: {
        predictedOutcome: { level, values: predicted },
        startOutcome: { level: 'trajectory', values: start },
      },
      heldOut: judge(predicted, endOf, baseline, isChance ? crossEntropy : squaredLoss),
    };
  },
});
