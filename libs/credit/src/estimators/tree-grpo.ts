import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { type Singleton } from '../group-scores.js';
import { LEAF_OUTCOME } from '../leaf-outcomes.js';
import { silenced } from '../silenced.js';
import { standardScores } from '../standard-scores.js';
import { trajectoryTree } from '../trajectory-tree.js';

const TreeGrpoParams = z.strictObject({
  variant: z
    .enum(['interPlusIntra', 'nested', 'intraOnly', 'interOnly'])
    .default('interPlusIntra')
    .describe('compared with the group plus with the tree; or the first compared again in the tree; or one alone'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a tree or group of one leaf keeps its reward in that part ('raw', the reference) or gets 0 ('zero')"),
});

/** Values against their set, NaN taking no part. */
function standardised(
  values: NumericValues,
  setOf: Int32Array,
  setCount: number,
  epsilon: number,
  singleton: Singleton,
): Float64Array {
  const ownSet = setOf.map((set, i) => (Number.isNaN(values[i]) ? -1 : set));
  const scores = standardScores(values, ownSet, setCount, { epsilon, singleton });
  return scores.map((score, i) => (Number.isNaN(values[i]) ? NaN : score));
}

/**
 * Tree-GRPO: a leaf is compared with all leaves of its prompt, and with those of its own tree.
 *
 *     inter[i] = (R[i] − mean_g) / (std_g + ε)      over the group, ddof = 1
 *     intra[i] = (R[i] − mean_T) / (std_T + ε)      over the tree
 *     A[i]     = inter + intra;   nested: inter standardised once more over the tree
 *
 * A tree of one leaf keeps its reward as intra (mean 0, std 1), so the scale of the rewards leaks in. Sets that agree
 * give exactly 0, where the reference divides float32 rounding by ε.
 */
export const treeGrpo = defineEstimator({
  id: 'tree-grpo',
  version: 1,
  title: 'Leaves against their prompt and their tree (Tree-GRPO)',
  citation: {
    code: 'AMAP-ML/Tree-GRPO:verl/trainer/ppo/core_algos.py@90b1709',
    work: 'Tree Search for LLM Agent Reinforcement Learning, 2025',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: [],
  accepts: ['trajectory.truncated'],
  conditional: [LEAF_OUTCOME],
  params: TreeGrpoParams,
  estimate(trajectories, columns, { variant, epsilon, singleton }) {
    const { groupOf, groupCount, ids } = trajectories;
    const tree = trajectoryTree(trajectories);
    const outcome = columns['trajectory.outcomeReward'];
    const byTree = (values: NumericValues) => standardised(values, tree.treeOf, ids.length, epsilon, singleton);
    const inter = standardised(outcome, groupOf, groupCount, epsilon, singleton);
    const intra = byTree(outcome);
    const values = {
      interPlusIntra: () => inter.map((value, i) => value + intra[i]),
      nested: () => byTree(inter),
      intraOnly: () => intra,
      interOnly: () => inter,
    }[variant]();
    const level = 'trajectory';
    return {
      level,
      ...silenced(values, 'cut off without an outcome', (i) => Number.isNaN(outcome[i])),
      explain: {
        interAdvantage: { level, values: inter },
        intraAdvantage: { level, values: intra },
        tree: { level, values: Float64Array.from(tree.treeOf), partition: true },
      },
      warnings: tree.warnings,
    };
  },
});
