import { rowSums } from '#lib/numeric';
import { z } from 'zod';
import { crossFit, trainingOptions } from '../cross-fit.js';
import { foldsOf, tooLittle } from '../folds.js';
import { heldOutColumns, heldOutWarnings, judgeOutcomes, nothing } from '../held-out.js';
import { defineLearned, FOLD_PARAMS, SUM_NETWORK_PARAMS } from '../learned-estimator.js';
import { spreadResidual } from '../spread-residual.js';
import { inContext, turnFeatures } from '../turn-features.js';

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
  version: 2,
  title: 'Stepwise progress attribution, learned (SPA)',
  citation: {
    paper: 'arXiv:2505.20732',
    code: 'WangHanLinHenry/SPA-RL-Agent:prm/train_our_progress_model.py@ed20087',
  },
  status: 'own',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.state', 'turn.action', 'trajectory.outcomeReward'],
  accepts: ['turn.embedding'],
  kinds: { 'turn.embedding': z.array(z.number()) },
  texts: true,
  params: SpaLearnedParams,
  async learn(device, trajectories, columns, params) {
    const { turnOffsets, stateKey } = trajectories;
    const outcome = Float64Array.from(columns['trajectory.outcomeReward']);
    const why = tooLittle(trajectories, outcome, params);
    if (why) return nothing(stateKey.length, why);

    const folds = foldsOf(trajectories, params);
    const { turn } = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
    const set = {
      ...inContext(turn, turn, turnOffsets),
      offsets: turnOffsets,
      targets: Float32Array.from(outcome),
    };
    const contribution = await crossFit(device, set, folds, trainingOptions(params, { loss: 'sum' }));
    const predicted = rowSums(contribution, turnOffsets);
    const level = 'turn';
    const heldOut = judgeOutcomes(predicted, outcome, turnOffsets, folds);
    return {
      level,
      values:
        params.residual === 'uniform' ? spreadResidual(contribution, predicted, outcome, turnOffsets) : contribution,
      explain: {
        contribution: { level, values: contribution },
        predictedReturn: { level: 'trajectory', values: predicted },
        ...heldOutColumns(heldOut),
      },
      warnings: heldOutWarnings(heldOut),
    };
  },
});
