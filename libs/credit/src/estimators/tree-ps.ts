import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { LEAF_OUTCOME } from '../leaf-outcomes.js';
import { silenced } from '../silenced.js';
import { gains, NO_LEAF, nodeMeans, onTurns, promptOf, trajectoryTree } from '../trajectory-tree.js';

const TreePsParams = z.strictObject({
  localWeight: z.number().default(1).describe('of the gain over the step before'),
  globalWeight: z.number().default(1).describe('of the gain over the prompt'),
  leafScale: z
    .enum(['none', 'sqrt'])
    .default('none')
    .describe("'sqrt' damps a step by the root of the trajectories through it, as the published TreeRL does"),
});

/**
 * TreePS-RAG: a step is worth how the trajectories through it end, against the step before and against the prompt.
 *
 *     V[n] = mean outcome of the trajectories through n
 *     A[n] = (localWeight · (V[n] − V[parent]) + globalWeight · (V[n] − V[prompt])) / s      s = 1, or √L[n]
 */
export const treePs = defineEstimator({
  id: 'tree-ps',
  version: 1,
  title: 'Tree-based process supervision (TreePS-RAG)',
  citation: { paper: 'arXiv:2601.06922' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: ['trajectory.truncated'],
  conditional: [LEAF_OUTCOME],
  params: TreePsParams,
  estimate(trajectories, columns, { localWeight, globalWeight, leafScale }) {
    const tree = trajectoryTree(trajectories);
    const { mean, leaves } = nodeMeans(tree, columns['trajectory.outcomeReward'], 'leaves');
    const prompt = promptOf(tree);
    const advantage = gains(tree, mean).map((gain, n) => {
      const scale = leafScale === 'sqrt' ? Math.sqrt(leaves[n]) : 1;
      return (localWeight * gain + globalWeight * (mean[n] - mean[prompt[n]])) / scale;
    });
    const level = 'turn';
    const turns = (perNode: Float64Array) =>
      silenced(onTurns(tree, perNode), NO_LEAF, (t) => leaves[tree.nodeOf[t]] === 0);
    return {
      level,
      ...turns(advantage),
      explain: {
        nodeValue: { level, values: turns(mean).values },
        leafCount: { level, values: onTurns(tree, leaves) },
        rootValue: { level: 'group', values: mean.slice(0, trajectories.groupCount) },
      },
      warnings: tree.warnings,
    };
  },
});
