import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

const PGrpoParams = z.strictObject({
  outcome: z
    .enum(['success', 'outcomeReward'])
    .default('success')
    .describe('the outcome: the flag, or a graded reward such as the share of tests passed'),
  gate: z
    .enum(['exact', 'product'])
    .default('exact')
    .describe('thinking counts where the outcome is exactly 1, or in proportion to it'),
  processWeight: z.number().default(1).describe('weight of thinking'),
  ...GROUP_PARAMS,
});

/**
 * Posterior-GRPO: judged thinking counts only where the outcome is right, so good-looking reasoning replaces nothing.
 *
 *     R[i] = format[i] + Ro[i] + processWeight · gate(Ro[i]) · thinking[i]
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const pGrpo = defineEstimator({
  id: 'p-grpo',
  version: 1,
  title: 'Posterior process rewards (P-GRPO)',
  citation: { paper: 'arXiv:2508.05170' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.formatOk', 'trajectory.thinkingReward'],
  accepts: [],
  conditional: [
    { when: { outcome: 'success' }, requires: ['trajectory.success'] },
    { when: { outcome: 'outcomeReward' }, requires: ['trajectory.outcomeReward'] },
  ],
  params: PGrpoParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.formatOk': formatOk, 'trajectory.thinkingReward': thinking } = columns;
    const outcome = columns[`trajectory.${params.outcome}`];
    const gate = (value: number) => (params.gate === 'product' ? value : Number(value === 1));
    const reward = Float64Array.from(outcome, (value, i) => {
      return formatOk[i] + value + params.processWeight * gate(value) * thinking[i];
    });
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: { trajectoryReward: { level, values: reward } },
    };
  },
});
