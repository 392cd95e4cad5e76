import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { silenced } from '../silenced.js';
import { nodeMeans, trajectoryTree } from '../trajectory-tree.js';

const VineppoParams = z.strictObject({
  source: z
    .enum(['signal', 'branches'])
    .default('signal')
    .describe('values are the signal mcValue, or the mean outcome of the other trajectories through the same prefix'),
});

/**
 * The value of the state before each turn, from the other trajectories that went through it.
 *
 *     V[t] = mean outcome of the OTHER leaves below the node before turn t      NaN: there is none
 *
 * @param outcome [trajectories]
 * @returns [turns]
 */
export function branchValues(trajectories: TrajectoryBatch, outcome: NumericValues) {
  const { turnOffsets } = trajectories;
  const tree = trajectoryTree(trajectories);
  const { mean, leaves } = nodeMeans(tree, outcome, 'leaves');
  const values = new Float64Array(tree.nodeOf.length);
  outcome.forEach((own, i) => {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const before = tree.parentNode[tree.nodeOf[t]];
      const others = leaves[before] - 1;
      values[t] = others === 0 ? NaN : mean[before] + (mean[before] - own) / others;
    }
  });
  return { values, warnings: tree.warnings };
}

/**
 * VinePPO: the value of each state is the mean of fresh rollouts from it, and a turn is worth what it changed.
 *
 *     r[t] = the outcome at the last turn, else 0;   V after the last turn = 0
 *     V[t] = r[t] + V[t + 1]      from the end back, while V[t] is not estimated
 *     A[t] = r[t] + V[t + 1] − V[t]
 *
 * The tail that is not estimated gets exactly 0. A value missing between two estimated ones leaves the whole trajectory
 * without credit.
 */
export const vineppo = defineEstimator({
  id: 'vineppo',
  version: 1,
  title: 'Advantages by Monte Carlo values (VinePPO)',
  citation: {
    code: 'McGill-NLP/VinePPO:math_episode_generator_with_mc_advantages.py@efe7228',
    work: 'VinePPO: Unlocking RL Potential For LLM Reasoning Through Refined Credit Assignment, 2024',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  sparse: ['turn.mcValue'],
  conditional: [{ when: { source: 'signal' }, requires: ['turn.mcValue'] }],
  params: VineppoParams,
  estimate(trajectories, columns, { source }) {
    const { turnOffsets } = trajectories;
    const outcome = columns['trajectory.outcomeReward'];
    const given =
      source === 'signal' ? { values: columns['turn.mcValue'], warnings: [] } : branchValues(trajectories, outcome);

    const stateValue = Float64Array.from(given.values);
    const advantage = new Float64Array(stateValue.length);
    const holed = new Set<number>();
    outcome.forEach((result, i) => {
      let after = 0;
      let isTail = true;
      for (let t = turnOffsets[i + 1] - 1; t >= turnOffsets[i]; t--) {
        const target = (t + 1 === turnOffsets[i + 1] ? result : 0) + after;
        if (!Number.isNaN(stateValue[t])) isTail = false;
        else if (isTail) stateValue[t] = target;
        else for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) holed.add(row);
        advantage[t] = target - stateValue[t];
        after = stateValue[t];
      }
    });
    const level = 'turn';
    return {
      level,
      ...silenced(advantage, 'a value is missing between two estimated ones', (t) => holed.has(t)),
      explain: { stateValue: { level, values: stateValue } },
      warnings: given.warnings,
    };
  },
});
