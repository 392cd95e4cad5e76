import { rowSums } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, trainingOptions, trainingSet } from '../cross-fit.js';
import { judgeOutcomes } from '../held-out.js';
import { inContext } from '../in-context.js';
import { defineLearned } from '../learned-estimator.js';
import { FOLD_PARAMS, SUM_NETWORK_PARAMS } from '../learned-params.js';
import { spreadResidual } from '../spread-residual.js';

const SpaLearnedParams = z.strictObject({
  residual: z
    .enum(['uniform', 'none'])
    .default('uniform')
    .describe("what the sum lacks to the outcome: an equal part to every turn, or left ('none', as the paper does)"),
  ...FOLD_PARAMS,
  ...SUM_NETWORK_PARAMS,
});

/**
 * SPA's progress estimator: contributions of turns, learned so that they add up to the outcome.
 *
 *     c[t] = R̄ / T + f(turn t, the turns before it)      f minimises mean_i (Σ_t c[t] − R[i])²
 *     r[t] = c[t] + (R − Σ c) / T                        residual 'uniform': Σ r = R; 'none': r = c
 *
 * R̄: the mean outcome of the folds that are learned from.
 */
export const spaLearned = defineLearned({
  id: 'spa-learned',
  version: 3,
  title: 'Stepwise progress attribution, learned (SPA)',
  citation: {
    paper: 'arXiv:2505.20732',
    code: 'WangHanLinHenry/SPA-RL-Agent:prm/train_our_progress_model.py@ed20087',
  },
  gives: 'reward',
  requires: ['trajectory.outcomeReward'],
  params: SpaLearnedParams,
  target: (_, columns) => Float64Array.from(columns['trajectory.outcomeReward']),
  async learn({ device, trajectories: { turnOffsets }, features: { turn }, folds, target: outcome }, params) {
    const set = trainingSet(inContext(turn, turn, turnOffsets), turnOffsets, outcome);
    const contribution = await crossFit(device, set, folds, trainingOptions(params, { loss: 'sum' }));
    const predicted = rowSums(contribution, turnOffsets);
    const level = 'turn';
    return {
      values:
        params.residual === 'uniform' ? spreadResidual(contribution, predicted, outcome, turnOffsets) : contribution,
      explain: {
        contribution: { level, values: contribution },
        predictedReturn: { level: 'trajectory', values: predicted },
      },
      heldOut: judgeOutcomes(predicted, outcome, turnOffsets, folds),
    };
  },
});
