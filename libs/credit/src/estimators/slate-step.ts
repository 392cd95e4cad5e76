import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';
import { onTurns, trajectoryTree, type TrajectoryTree } from '../trajectory-tree.js';

const SlateStepParams = z.strictObject({
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread of the candidates'),
  turnBudget: z.int().positive().default(4).describe('turns that an answer is measured against'),
  bonusWeight: z.number().default(0.1).describe('what an answer at the first turn gets more; less each turn later'),
  selectionTemperature: z
    .number()
    .nonnegative()
    .default(0.7)
    .describe('of the probability to go on with a candidate; 0: the best'),
});

/**
 * The chance that each candidate is the one to go on with.
 *
 *     p[n] = exp(A[n] / τ) / Σ over the candidates of the decision      τ = 0: shared by the best
 *
 * @param advantage [nodes] NaN: a prompt
 * @returns [nodes]
 */
export function selectionProbability(
  advantage: Float64Array,
  { parentNode }: Pick<TrajectoryTree, 'parentNode'>,
  temperature: number,
): Float64Array {
  const best = new Float64Array(advantage.length).fill(-Infinity);
  const total = new Float64Array(advantage.length);
  advantage.forEach((a, n) => (best[parentNode[n]] = Math.max(best[parentNode[n]] ?? NaN, a)));
  const share = advantage.map((a, n) => {
    const behind = a - best[parentNode[n]];
    return temperature === 0 ? Number(behind === 0) : Math.exp(behind / temperature);
  });
  share.forEach((s, n) => (total[parentNode[n]] += s));
  return share.map((s, n) => s / total[parentNode[n]]);
}

/** Judged candidates: thought and action, and a bonus for an answer that comes early. */
function judgedReward(
  { turnOf, depth }: TrajectoryTree,
  think: NumericValues,
  action: NumericValues,
  actionType: readonly (string | null)[],
  { turnBudget, bonusWeight }: z.infer<typeof SlateStepParams>,
): Float64Array {
  return Float64Array.from(turnOf, (row, n) => {
    const t = depth[n] - 1;
    const bonus = actionType[row] === 'answer' ? (bonusWeight * (turnBudget - t)) / turnBudget : 0;
    return row < 0 ? NaN : think[row] + action[row] + bonus;
  });
}

/**
 * SLATE: the candidates for one step, alike up to there, are judged and compared among themselves.
 *
 *     r[n] = judgeThink + judgeAction                                          a search
 *            judgeThink + judgeAction + bonusWeight · (turnBudget − t) / turnBudget     an answer at turn t, from 0
 *     A[n] = (r[n] − mean) / (std + ε)      over the nodes with the same parent, ddof = 1
 *
 * Nothing passes to earlier or later turns, and no outcome is read. A candidate alone gets 0 (NaN in the reference).
 */
export const slateStep = defineEstimator({
  id: 'slate-step',
  version: 1,
  title: 'Judged candidates of one step (SLATE)',
  citation: { paper: 'arXiv:2602.23440', code: 'algoprog/SLATE:slate/training/step_level_algos.py@cbab153' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.judgeThink', 'turn.judgeAction', 'turn.actionType'],
  accepts: [],
  kinds: { 'turn.actionType': z.enum(['search', 'answer']) },
  params: SlateStepParams,
  estimate(trajectories, columns, params) {
    const tree = trajectoryTree(trajectories);
    const { 'turn.judgeThink': think, 'turn.judgeAction': action, 'turn.actionType': actionType } = columns;
    const reward = judgedReward(tree, think, action, actionType, params);
    const { epsilon } = params;
    const advantage = standardScores(reward, tree.parentNode, tree.nodeCount, { epsilon, singleton: 'zero' });
    const level = 'turn';
    return {
      level,
      values: onTurns(tree, advantage),
      explain: {
        turnReward: { level, values: onTurns(tree, reward) },
        selectionProbability: {
          level,
          values: onTurns(tree, selectionProbability(advantage, tree, params.selectionTemperature)),
        },
      },
      warnings: tree.warnings,
    };
  },
});
