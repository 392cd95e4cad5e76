import { rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

const HarGuiParams = z.strictObject({
  memoryWeight: z.number().default(0.2).describe('what a turn earns for reasoning from earlier interactions'),
  ...GROUP_PARAMS,
});

/**
 * HAR-GUI: a turn is paid for its action and for using its history, in the right format only.
 *
 *     r[t] = format[t] · (action[t] + memoryWeight · memoryUsed[t])      a failed judgement of memory: 0
 *     R[i] = mean of r over its turns, 0 without a turn
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const harGui = defineEstimator({
  id: 'har-gui',
  version: 1,
  title: 'History-aware hybrid reward (HAR-GUI)',
  citation: { paper: 'arXiv:2511.09127' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['turn.formatScore', 'turn.actionScore', 'turn.memoryUsed'],
  accepts: [],
  sparse: ['turn.memoryUsed'],
  params: HarGuiParams,
  estimate(trajectories, columns, params) {
    const { 'turn.formatScore': format, 'turn.actionScore': action, 'turn.memoryUsed': memory } = columns;
    const turnReward = Float64Array.from(format, (isRight, t) => {
      return isRight * (action[t] + params.memoryWeight * (memory[t] || 0));
    });
    const reward = rowMeans(turnReward, trajectories.turnOffsets).map((mean) => mean || 0);
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: { turnReward: { level: 'turn', values: turnReward }, trajectoryReward: { level, values: reward } },
    };
  },
});
