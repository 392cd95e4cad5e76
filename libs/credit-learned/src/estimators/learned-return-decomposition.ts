import { rowSums } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, trainingOptions, trainingSet } from '../cross-fit.js';
import { judgeOutcomes } from '../held-out.js';
import { inContext } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, SUM_NETWORK_PARAMS } from '../learned-params.js';
import { linearRewards } from '../linear-rewards.js';
import { spreadResidual } from '../spread-residual.js';

const LearnedReturnDecompositionParams = z.strictObject({
  method: z
    .enum(['least-squares', 'randomized'])
    .default('least-squares')
    .describe("a linear reward, solved at once, or RRD: a network, trained on turns drawn at random ('randomized')"),
  residual: z
    .enum(['none', 'uniform'])
    .default('none')
    .describe("what the sum lacks to the outcome: left, or an equal part to every turn ('uniform')"),
  ridge: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('weight of the squared weights, for least-squares; null: the best of 1 to 100000 on the validation fold'),
  drawnTurns: z.int().min(1).default(32).describe('turns drawn of a trajectory in each step, for randomized (K)'),
  ...FOLD_PARAMS,
  ...SUM_NETWORK_PARAMS,
});

/**
 * Return decomposition: a reward of turns, learned from nothing but outcomes, that adds up to them on average.
 *
 *     least-squares: r[t] = R̄ / T + w · x[t]     w minimises Σ_i (Σ_t w · x[t] − (R[i] − R̄))² + ridge |w|²
 *     randomized:    r[t] = R̄ / T + f(x[t])       f minimises mean_i (T/K Σ_{t drawn} f(x[t]) − (R[i] − R̄))²      K turns drawn
 *
 * x: the turn and those before it; R̄: the mean outcome of the folds that are learned from.
 */
export const learnedReturnDecomposition = defineLearned({
  id: 'learned-return-decomposition',
  version: 3,
  title: 'Learned return decomposition (least squares, RRD)',
  citation: {
    paper: 'arXiv:2111.13485',
    code: 'Stilwell-Git/Randomized-Return-Decomposition:algorithm/rrd.py@bc80473',
  },
  gives: 'reward',
  requires: ['trajectory.outcomeReward'],
  params: LearnedReturnDecompositionParams,
  target: (_, columns) => Float64Array.from(columns['trajectory.outcomeReward']),
  async learn({ device, trajectories: { turnOffsets }, features: { turn }, folds, target: outcome }, params) {
    const rows = inContext(turn, turn, turnOffsets);
    const { method, drawnTurns, residual } = params;
    const reward =
      method === 'randomized'
        ? await crossFit(
            device,
            trainingSet(rows, turnOffsets, outcome),
            folds,
            trainingOptions(params, { loss: 'drawn', drawn: drawnTurns }),
          )
        : await linearRewards(device, rows, turnOffsets, outcome, folds, params.ridge);

    const predicted = rowSums(reward, turnOffsets);
    const level = 'turn';
    return {
      values: residual === 'uniform' ? spreadResidual(reward, predicted, outcome, turnOffsets) : reward,
      explain: {
        learnedReward: { level, values: reward },
        predictedReturn: { level: 'trajectory', values: predicted },
      },
      heldOut: judgeOutcomes(predicted, outcome, turnOffsets, folds),
    };
  },
});
