import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

const HptParams = z.strictObject({
  switchGate: z.int().default(0).describe('a group solved no more often learns from a demonstration (sft)'),
  switchGateOff: z
    .int()
    .default(0)
    .describe('one above that, but solved no more often than this, is trained on a demonstration by RL (offPolicy)'),
  successValue: z.number().default(1).describe('the outcome that counts as solved, exactly'),
  sftLossWeight: z.number().default(1).describe('weight of a demonstration (0.3 for the 1.5B model)'),
  ...GROUP_PARAMS,
  normalizeByStd: z.boolean().default(false).describe("divide by the group's spread, as the paper's equation shows"),
});

type Mode = 'sft' | 'offPolicy' | 'rl';

/**
 * HPT: a group that is solved often enough is trained by RL on its rollouts, any other on a demonstration.
 *
 *     c = #{i in g: R[i] = successValue};  mode: sft where c ≤ switchGate, else offPolicy where c ≤ switchGateOff, else rl
 *     A[i] = R[i] − mean_g R (over std + ε if asked) where the mode is rl, else 0
 */
export const hpt = defineEstimator({
  id: 'hpt',
  version: 1,
  title: 'Gate between demonstrations and RL (HPT)',
  citation: {
    paper: 'arXiv:2509.04419',
    code: 'TsinghuaC3I/Unify-Post-Training:hpt/verl/verl/mix_src/mix_trainer.py@ae332f5',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  params: HptParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount } = trajectories;
    const reward = columns['trajectory.outcomeReward'];
    const solved = new Float64Array(groupCount);
    reward.forEach((r, i) => (solved[groupOf[i]] += Number(r === params.successValue)));
    const modes = Array.from(solved, (count): Mode => {
      if (count <= params.switchGate) return 'sft';
      return count <= params.switchGateOff ? 'offPolicy' : 'rl';
    });
    const advantage = groupAdvantage(reward, trajectories, params);
    return {
      level: 'trajectory',
      values: advantage.map((value, i) => (modes[groupOf[i]] === 'rl' ? value : 0)),
      explain: {
        groupMode: { level: 'group', values: modes },
        solvedCount: { level: 'group', values: solved },
        sftWeight: {
          level: 'group',
          values: Float64Array.from(modes, (mode) => (mode === 'sft' ? params.sftLossWeight : 0)),
        },
      },
    };
  },
});
