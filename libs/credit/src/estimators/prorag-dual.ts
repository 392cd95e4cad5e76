import { ownerOf, repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { groupAdvantage } from '../group-advantage.js';

const ProragDualParams = z.strictObject({
  processWeight: z.number().default(0.5).describe('weight of the step scores; the published script has 0.3'),
  epsilon: z.number().nonnegative().default(1e-4).describe('added to the spread of the outcomes'),
  processEpsilon: z
    .number()
    .nonnegative()
    .default(1e-8)
    .describe('added to the variance of the step scores, inside the root'),
});

/**
 * ProRAG: the outcome against its group, plus the step's score against all generated tokens of the group.
 *
 *     o[i] = (R[i] − mean_g R) / (std_g R + ε)            ddof = 1; 0 for a group of one
 *     A[k] = o[i] + processWeight · (score[t] − μ) / sd   of the turn t of token k; 0 on tokens that were not generated
 *            μ, sd = sqrt(var + processEpsilon) over the generated tokens of the group, ddof = 0; sd = 1 for one token
 *
 * Long turns weigh more in μ and sd. Scores that agree add exactly 0.
 */
export const proragDual = defineEstimator({
  id: 'prorag-dual',
  version: 1,
  title: 'Outcome and step scores at once (ProRAG)',
  citation: { paper: 'arXiv:2601.21912', code: 'lilinwz/ProRAG:prorag/rl/trainer.py@c7a6411' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.processReward', 'token.mask'],
  accepts: [],
  params: ProragDualParams,
  estimate(trajectories, columns, { processWeight, epsilon, processEpsilon }) {
    const { turnOffsets, tokenOffsets, groupOf, groupCount } = trajectories;
    const outcome = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, {
      normalizeByStd: true,
      epsilon,
      singleton: 'zero',
    });
    const mask = columns['token.mask'];
    const score = columns['turn.processReward'];
    const tokens = Float64Array.from(score, (_, t) => {
      let count = 0;
      for (let k = tokenOffsets[t]; k < tokenOffsets[t + 1]; k++) if (mask[k] !== 0) count++;
      return count;
    });
    const groupOfTurn = ownerOf(turnOffsets).map((i) => groupOf[i]);
    const { weight, mean, std } = segmentMoments(score, tokens, groupOfTurn, groupCount, 0);
    const process = Float64Array.from(score, (s, t) => {
      const g = groupOfTurn[t];
      if (tokens[t] === 0 || std[g] === 0) return 0;
      return (s - mean[g]) / (weight[g] <= 1 ? 1 : Math.sqrt(std[g] ** 2 + processEpsilon));
    });

    const ofTurn = repeatRows(outcome, turnOffsets);
    const perTurn = ofTurn.map((o, t) => o + processWeight * process[t]);
    return {
      level: 'token',
      values: repeatRows(perTurn, tokenOffsets, mask),
      explain: {
        outcomeAdvantage: { level: 'trajectory', values: outcome },
        turnAdvantage: { level: 'turn', values: perTurn },
      },
    };
  },
});
