import { AGGREGATES, aggregateRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { standardScores } from '../standard-scores.js';

const PapoParams = z.strictObject({
  aggregate: z.enum(AGGREGATES).default('mean').describe("how the turns' scores become one"),
  softminTemperature: z.number().positive().default(0.1).describe('of softmin: lower is nearer to min'),
  emptyScore: z.number().default(0).describe('process score of a trajectory without turns'),
  ...GROUP_PARAMS,
  singleton: z
    .enum(['zero', 'raw'])
    .default('zero')
    .describe(
      "one trajectory alone, or one right one alone in the second term, gets 0 ('zero') or what it has ('raw')",
    ),
});

/**
 * PAPO: the outcome against the group, plus the process score of right trajectories against each other.
 *
 *     A[i] = (Ro[i] − mean_g Ro) / (std_g Ro + ε) + [i right] · (Rp[i] − mean_c Rp) / (std_c Rp + ε)
 *
 * c: the right trajectories of the group; both with ddof = 1. A wrong one gets nothing for its process.
 */
export const papo = defineEstimator({
  id: 'papo',
  version: 1,
  title: 'Process scores among right trajectories (PAPO)',
  citation: { paper: 'arXiv:2603.26535' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.success', 'turn.processReward'],
  accepts: [],
  params: PapoParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount, turnOffsets } = trajectories;
    const how = { empty: params.emptyScore, temperature: params.softminTemperature };
    const score = aggregateRows(columns['turn.processReward'], turnOffsets, params.aggregate, how);
    const isRight = columns['trajectory.success'];
    const among = Int32Array.from(isRight, (right, i) => (right === 1 ? groupOf[i] : -1));
    const process = standardScores(score, among, groupCount, params);
    const outcome = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const level = 'trajectory';
    return {
      level,
      values: outcome.map((value, i) => value + process[i]),
      explain: {
        processScore: { level, values: score },
        outcomeAdvantage: { level, values: outcome },
        processAdvantage: { level, values: process },
      },
    };
  },
});
