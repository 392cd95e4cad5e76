import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

/** Type and value together above this: the step counts as a success. */
const STEP_SUCCESS = 1.86;

const HiconHcpoParams = z.strictObject({
  blockSize: z.int().positive().default(8).describe('trajectories, in the order of the batch, that share a maximum'),
  bonusFactor: z.number().default(1.2).describe('what a right answer with a shorter history is multiplied with'),
  bonusThreshold: z.number().default(1.43).describe('least base reward that counts as right'),
  ...GROUP_PARAMS,
});

/**
 * Who earns the bonus for a short history. The maximum runs along the block, so the order of the batch matters and the
 * first of a block never earns it.
 *
 *     bonus[i] = history[i] < max history of its block up to i, and base[i] ≥ threshold
 *
 * @param history, base [trajectories]
 * @returns [trajectories] flags
 */
export function shortHistoryBonus(
  history: NumericValues,
  base: Float64Array,
  { blockSize, bonusThreshold }: Pick<z.infer<typeof HiconHcpoParams>, 'blockSize' | 'bonusThreshold'>,
): Float64Array {
  let longest = -Infinity;
  return base.map((reward, i) => {
    if (i % blockSize === 0) longest = -Infinity;
    longest = Math.max(longest, history[i]);
    return history[i] < longest && reward >= bonusThreshold ? 1 : 0;
  });
}

/**
 * HCPO of HiconAgent: a right action that needed less history than another of its block is worth more.
 *
 *     base[i] = ½ (type[i] + value[i]) + ½ format[i]
 *     R[i]    = bonusFactor · base[i] where shortHistoryBonus, else base[i]
 *     A[i]    = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const hiconHcpo = defineEstimator({
  id: 'hicon-hcpo',
  version: 1,
  title: 'History context-aware policy optimisation (HiconAgent HCPO)',
  citation: { paper: 'arXiv:2512.01763', code: 'JiuTian-VL/HiconAgent:EasyR1/verl/trainer/core_algos.py@39cb9d7' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: [
    'trajectory.historyLength',
    'trajectory.actionTypeMatch',
    'trajectory.valueScore',
    'trajectory.formatScore',
  ],
  accepts: [],
  params: HiconHcpoParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.actionTypeMatch': type, 'trajectory.valueScore': value } = columns;
    const { 'trajectory.historyLength': history, 'trajectory.formatScore': format } = columns;
    const base = Float64Array.from(type, (match, i) => 0.5 * (match + value[i]) + 0.5 * format[i]);
    const bonus = shortHistoryBonus(history, base, params);
    const reward = base.map((r, i) => (bonus[i] === 1 ? params.bonusFactor * r : r));
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        baseReward: { level, values: base },
        stepSuccess: { level, values: base.map((_, i) => (type[i] + value[i] > STEP_SUCCESS ? 1 : 0)) },
        bonusApplied: { level, values: bonus },
        trajectoryReward: { level, values: reward },
      },
    };
  },
});
