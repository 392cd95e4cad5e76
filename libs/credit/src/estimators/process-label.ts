import { ownerOf, rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { standardScores } from '../standard-scores.js';

const ProcessLabelParams = z.strictObject({
  label: z
    .enum(['humanLabel', 'judgeLabel'])
    .default('humanLabel')
    .describe("whose labels are the credit: a person's or a model's"),
  granularity: z
    .enum(['trajectory', 'turn'])
    .default('trajectory')
    .describe("compare the trajectories' mean labels, or the labels of all turns of the group"),
  ...GROUP_PARAMS,
});

/**
 * Labels of turns as credit, whatever the outcome: +1 advances the task, 0 neutral, −1 wrong or harmful.
 *
 *     trajectory: R[i] = mean label of its turns,  A[i] = (R[i] − mean_g R) / (std_g R + ε)      no turn: 0
 *     turn:       A[t] = (label[t] − mean) / (std + ε) over all turns of the group               ddof = 1
 */
export const processLabel = defineEstimator({
  id: 'process-label',
  version: 1,
  title: 'Step labels as credit',
  citation: { paper: 'arXiv:2603.14465' },
  status: 'own',
  gives: 'advantage',
  levels: ['trajectory', 'turn'],
  groupRelative: true,
  requires: [],
  accepts: [],
  conditional: [
    { when: { label: 'humanLabel' }, requires: ['turn.humanLabel'] },
    { when: { label: 'judgeLabel' }, requires: ['turn.judgeLabel'] },
  ],
  params: ProcessLabelParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, groupOf, groupCount } = trajectories;
    const labels = columns[`turn.${params.label}`];
    const reward = rowMeans(labels, turnOffsets).map((mean) => mean || 0);
    const explain = {
      turnReward: { level: 'turn', values: Float64Array.from(labels) },
      trajectoryReward: { level: 'trajectory', values: reward },
    } as const;
    if (params.granularity === 'trajectory') {
      return { level: 'trajectory', values: groupAdvantage(reward, trajectories, params), explain };
    }
    const groupOfTurn = ownerOf(turnOffsets).map((i) => groupOf[i]);
    return { level: 'turn', values: standardScores(labels, groupOfTurn, groupCount, params), explain };
  },
});
