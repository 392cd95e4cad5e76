import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { standardScores } from '../standard-scores.js';

const HdpoParams = z.strictObject({
  accuracyWeight: z.number().default(1).describe('weight of the accuracy part'),
  toolWeight: z.number().default(0.15).describe("weight of the tool part: the script's; the configuration says 0"),
  ...GROUP_PARAMS,
});

/**
 * HDPO: accuracy is compared over the whole group, economy only among its right answers.
 *
 *     r[i]    = 1 / (toolCalls + 1) where the answer is right, else 0
 *     tool[i] = (r[i] − mean) / (std + ε) over the members with r > 0, where there are two; else 0      ddof = 1
 *     A[i]    = accuracyWeight · (group advantage of R) + toolWeight · tool[i]
 */
export const hdpo = defineEstimator({
  id: 'hdpo',
  version: 1,
  title: 'Tool economy among right answers (HDPO, Metis)',
  citation: {
    paper: 'arXiv:2604.08545',
    code: 'Accio-Lab/Metis:verl_tool/trainer/ppo/hdpo_algos.py@84fd45e',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.answerCorrect', 'trajectory.toolCalls'],
  accepts: [],
  params: HdpoParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount } = trajectories;
    const isRight = columns['trajectory.answerCorrect'];
    const toolReward = Float64Array.from(columns['trajectory.toolCalls'], (calls, i) =>
      isRight[i] === 1 ? 1 / (calls + 1) : 0,
    );
    const accuracy = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);

    const rightOf = groupOf.map((group, i) => (toolReward[i] > 0 ? group : -1));
    const tool = standardScores(toolReward, rightOf, groupCount, { ...params, singleton: 'zero' });

    const level = 'trajectory';
    const values = accuracy.map((a, i) => params.accuracyWeight * a + params.toolWeight * tool[i]);
    return {
      level,
      values,
      explain: {
        toolReward: { level, values: toolReward },
        accuracyAdvantage: { level, values: accuracy },
        toolAdvantage: { level, values: tool },
      },
    };
  },
});
