import { ownerOf } from '#lib/numeric';
import { logisticLoss } from '#lib/tensor';
import { z } from 'zod';
import { crossFit, meansOfOthers, trainingOptions } from '../cross-fit.js';
import { foldsByGroup, tooLittle } from '../folds.js';
import { heldOutColumns, heldOutWarnings, judge, nothing, squaredLoss } from '../held-out.js';
import { defineLearned, FOLD_PARAMS, NETWORK_PARAMS } from '../learned-estimator.js';
import { inContext, turnFeatures } from '../turn-features.js';

const LearnedProgressParams = z.strictObject({
  target: z
    .enum(['outcome', 'success'])
    .default('outcome')
    .describe('what is predicted: the outcome reward, or the flag success'),
  ...FOLD_PARAMS,
  ...NETWORK_PARAMS,
});

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const crossEntropy = (p: number, y: number) => logisticLoss(Math.log(p / (1 - p)), y);

/**
 * A predictor of how the trajectory ends, asked after every turn: what a turn changes in the answer is its credit.
 *
 *     p[t] = f(turn t, the turns before it)      trained on trajectories of other groups
 *     A[t] = p[t] − p[t−1]                       p[−1]: the mean end of those trajectories
 *
 * Ends that lie in 0 .. 1 are predicted as chances (logistic loss), others as numbers (squared loss).
 */
export const learnedProgress = defineLearned({
  id: 'learned-progress',
  version: 1,
  title: 'Learned success predictor, credit by its differences',
  citation: { work: 'TRACE, a success predictor over prefixes of a trajectory; this form is our own' },
  status: 'own',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.state', 'turn.action'],
  accepts: ['turn.embedding'],
  conditional: [
    { when: { target: 'outcome' }, requires: ['trajectory.outcomeReward'] },
    { when: { target: 'success' }, requires: ['trajectory.success'] },
  ],
  kinds: { 'turn.embedding': z.array(z.number()) },
  texts: true,
  params: LearnedProgressParams,
  async learn(device, trajectories, columns, params) {
    const { turnOffsets, stateKey } = trajectories;
    const end = Float64Array.from(
      columns[params.target === 'outcome' ? 'trajectory.outcomeReward' : 'trajectory.success'],
    );
    const why = tooLittle(trajectories, end, params.minTrajectories);
    if (why) return nothing(stateKey.length, why);

    const folds = foldsByGroup(trajectories, params.folds, params.seed);
    const features = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
    const isChance = end.every((value) => value >= 0 && value <= 1);
    const trajectoryOf = ownerOf(turnOffsets);
    const endOf = Float64Array.from(trajectoryOf, (i) => end[i]);
    const set = {
      ...inContext(features.turn, features.turn, turnOffsets),
      offsets: turnOffsets,
      targets: Float32Array.from(endOf),
    };
    const options = trainingOptions(params, { loss: isChance ? 'logistic' : 'squared' });
    const outputs = await crossFit(device, set, folds, options);
    const predicted = isChance ? outputs.map(sigmoid) : outputs;

    const turns = end.map((_, i) => turnOffsets[i + 1] - turnOffsets[i]);
    const start = meansOfOthers(end, new Float64Array(end.length).fill(1), folds);
    const level = 'turn';
    const values = predicted.map(
      (p, t) => p - (t === turnOffsets[trajectoryOf[t]] ? start[trajectoryOf[t]] : predicted[t - 1]),
    );
    const perTurn = meansOfOthers(end, turns, folds);
    const baseline = Float64Array.from(trajectoryOf, (i) => perTurn[i]);
    const heldOut = judge(predicted, endOf, baseline, isChance ? crossEntropy : squaredLoss);
    return {
      level,
      values,
      explain: {
        predictedOutcome: { level, values: predicted },
        startOutcome: { level: 'trajectory', values: start },
        ...heldOutColumns(heldOut),
      },
      warnings: heldOutWarnings(heldOut),
    };
  },
});
