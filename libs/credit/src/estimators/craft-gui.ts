import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { isWhole } from '../is-whole.js';

const CraftGuiParams = z.strictObject({
  task: z
    .enum(['rule', 'judged'])
    .default('rule')
    .describe('scored by rules, or by a judge where the result is free text'),
  formatWeight: z.number().default(0.1).describe('weight of the format'),
  typeWeight: z.number().default(0.5).describe("rule: weight of the action's type"),
  argumentWeight: z.number().default(0.4).describe("rule: weight of the action's argument"),
  judgeWeight: z.number().default(0.9).describe("judged: weight of the judge's score"),
  ...GROUP_PARAMS,
});

/** From this share of solved rollouts on a group is of that stage. */
const STAGES = [
  { name: 'easy', from: 2 / 3 },
  { name: 'medium', from: 1 / 3 },
  { name: 'hard', from: 0 },
] as const;

/**
 * CRAFT-GUI: rule signals or a judge's score on GRPO, groups shown by how hard they are.
 *
 *     rule:   R = 0.1 format + 0.5 type + 0.4 argument
 *     judged: R = 0.1 format + 0.9 judge
 *     A = (R − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const craftGui = defineEstimator({
  id: 'craft-gui',
  version: 1,
  title: 'Rule and judged rewards of GUI tasks (CRAFT-GUI)',
  citation: { paper: 'arXiv:2508.11360' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.formatScore'],
  accepts: ['trajectory.success'],
  conditional: [
    { when: { task: 'rule' }, requires: ['trajectory.actionTypeMatch', 'trajectory.valueScore'] },
    { when: { task: 'judged' }, requires: ['trajectory.judgeScore'] },
  ],
  params: CraftGuiParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.actionTypeMatch': type, 'trajectory.valueScore': argument } = columns;
    const { 'trajectory.judgeScore': judge, 'trajectory.success': success } = columns;
    const reward = Float64Array.from(columns['trajectory.formatScore'], (format, i) => {
      const content =
        params.task === 'judged'
          ? params.judgeWeight * judge[i]
          : params.typeWeight * type[i] + params.argumentWeight * argument[i];
      return params.formatWeight * format + content;
    });
    const level = 'trajectory';
    const solved = isWhole(success) ? segmentMoments(success, null, trajectories.groupOf, trajectories.groupCount).mean : null; // prettier-ignore
    const stages = solved && Array.from(solved, (rate) => STAGES.find(({ from }) => rate >= from)?.name ?? null);
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        trajectoryReward: { level, values: reward },
        ...(stages && { stage: { level: 'group', values: stages } }),
      },
    };
  },
});
