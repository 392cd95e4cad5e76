import { ownerOf, rowLengths } from '#lib/numeric';
import { z } from 'zod';
import { crossFitRecurrent, trainingSet } from '../cross-fit.js';
import { judgeOutcomes } from '../held-out.js';
import { inPlace } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, NETWORK_PARAMS } from '../learned-params.js';
import { spreadResidual } from '../spread-residual.js';

const LearnedRudderParams = z.strictObject({
  residual: z
    .enum(['uniform', 'none'])
    .default('uniform')
    .describe("what the sum lacks to the outcome: an equal part to every turn, or left ('none')"),
  start: z
    .enum(['prior', 'zero'])
    .default('prior')
    .describe(
      "what the first turn is measured against: what is predicted before any turn, or 0 ('zero', as RUDDER does)",
    ),
  auxiliaryWeight: z
    .number()
    .nonnegative()
    .default(0.5)
    .describe('how much the error at every turn counts in the training, beside that at the last one'),
  ...FOLD_PARAMS,
  ...NETWORK_PARAMS,
  hiddenUnits: z.int().min(1).max(512).default(16).describe('numbers that the network keeps from turn to turn'),
});

/**
 * RUDDER, learned: a recurrent network tells the outcome at every turn, and a turn is paid what it changed in the answer.
 *
 *     p[t] = f(turns 0 .. t)                     f minimises mean_i ((p[T−1] − R)² + auxiliaryWeight · mean_t (p[t] − R)²)
 *     d[t] = p[t] − p[t−1]                       p[−1]: what f says before any turn, or 0
 *     q[t] = d[t] + (R − Σ d) / T                residual 'uniform': Σ q = R; 'none': q = d
 */
export const learnedRudder = defineLearned({
  id: 'learned-rudder',
  version: 2,
  title: 'Return decomposition by a recurrent network, learned (RUDDER)',
  citation: { paper: 'arXiv:1806.07857', code: 'widmi/rudder-a-practical-tutorial:tutorial.ipynb@06155b4' },
  gives: 'reward',
  requires: ['trajectory.outcomeReward'],
  params: LearnedRudderParams,
  target: (_, columns) => Float64Array.from(columns['trajectory.outcomeReward']),
  async learn({ device, trajectories: { turnOffsets }, features: { turn }, folds, target: outcome }, params) {
    const set = trainingSet(inPlace(turn, turnOffsets), turnOffsets, outcome);
    const { predicted, prior } = await crossFitRecurrent(device, set, folds, params);

    const trajectoryOf = ownerOf(turnOffsets);
    const turns = rowLengths(turnOffsets);
    const start = params.start === 'prior' ? prior : prior.map(() => 0);
    const difference = predicted.map((p, t) => {
      const i = trajectoryOf[t];
      return p - (t === turnOffsets[i] ? start[i] : predicted[t - 1]);
    });
    const last = outcome.map((_, i) => (turns[i] > 0 ? predicted[turnOffsets[i + 1] - 1] : NaN));
    const sums = last.map((p, i) => p - start[i]);
    const level = 'turn';
    return {
      values: params.residual === 'uniform' ? spreadResidual(difference, sums, outcome, turnOffsets) : difference,
      explain: {
        returnPrediction: { level, values: predicted },
        differenceReward: { level, values: difference },
        startPrediction: { level: 'trajectory', values: start },
      },
      heldOut: judgeOutcomes(last, outcome, turnOffsets, folds),
    };
  },
});
