import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { LEAF_OUTCOME } from '../leaf-outcomes.js';
import { silenced } from '../silenced.js';
import {
  gains,
  NO_LEAF,
  nodeMeans,
  onTurns,
  promptOf,
  trajectoryTree,
  type TrajectoryTree,
} from '../trajectory-tree.js';

const TreerlParams = z.strictObject({
  variant: z
    .enum(['released', 'paper'])
    .default('released')
    .describe('as the code computes it, or the published formula, which reads no other param'),
  weightStyle: z
    .enum(['sqrt', 'uniform', 'original', 'none'])
    .default('sqrt')
    .describe('a shared node is damped by the root of its selected leaves, by their number, or not'),
  valueMode: z
    .enum(['advantagePlusValue', 'advantageOnly', 'valueOnly', 'allAncestors'])
    .default('advantagePlusValue')
    .describe('gain over the parent plus own value, one of the two, or the mean gain over all ancestors'),
  overallNorm: z
    .enum(['none', 'turn', 'token'])
    .default('none')
    .describe('centre the nodes over the group, each counting once or by its tokens'),
  averageOneGeneration: z
    .literal(false)
    .default(false)
    .describe('a switch of the reference that its published run leaves off; on is not specified'),
});
type Params = z.infer<typeof TreerlParams>;

/** Where a gain is taken for none, and the one before on the path stands in for it. */
const NO_GAIN = 1e-8;

/**
 * Every leaf against the others of its group.
 *
 *     R'[l] = R[l] − (Σ R − R[l]) / (N − 1)
 *
 * Exactly 0 where they agree, and for a leaf alone (the reference refuses it). NaN: no leaf.
 */
function leaveOneOut(
  outcome: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
): Float64Array {
  const leafOf = groupOf.map((g, i) => (Number.isNaN(outcome[i]) ? -1 : g));
  const { weight, mean, std } = segmentMoments(outcome, null, leafOf, groupCount);
  return Float64Array.from(outcome, (r, i) => {
    if (leafOf[i] < 0) return NaN;
    const [n, m] = [weight[groupOf[i]], mean[groupOf[i]]];
    return n === 1 || std[groupOf[i]] === 0 ? 0 : ((r - m) * n) / (n - 1);
  });
}

/** Sum of the values of the trajectories that pass through each node; NaN is none. */
function sumsBelow({ nodeCount, parentNode, endNode }: TrajectoryTree, values: NumericValues): Float64Array {
  const sums = new Float64Array(nodeCount);
  endNode.forEach((n, i) => (sums[n] += Number.isNaN(values[i]) ? 0 : values[i]));
  for (let n = nodeCount - 1; n >= 0; n--) if (parentNode[n] >= 0) sums[parentNode[n]] += sums[n];
  return sums;
}

/**
 * The value of every node as the released code has it.
 *
 *     acc[n] = Σ R' of the leaves below n
 *     acc[n] −= L[n] · Σ acc w / Σ L w      over the nodes of the group, w = 1 (turn) or its tokens; 0 for the prompt (token)
 *     V[n]   = acc[n] / s[n] / L[n]         s = √sel, sel or 1; sel: selected leaves below n; where there is none, 1
 */
function releasedValue(
  tree: TrajectoryTree,
  outcome: NumericValues,
  selected: NumericValues | undefined,
  tokens: NumericValues | undefined,
  trajectories: TrajectoryBatch,
  { weightStyle, overallNorm }: Params,
): { value: Float64Array; leaves: Float64Array } {
  const total = sumsBelow(tree, leaveOneOut(outcome, trajectories));
  const leaves = sumsBelow(
    tree,
    Float64Array.from(outcome, (r) => (Number.isNaN(r) ? 0 : 1)),
  );
  const chosen = sumsBelow(
    tree,
    Float64Array.from(outcome, (r, i) => (Number.isNaN(r) || selected?.[i] === 0 ? 0 : 1)),
  );

  if (overallNorm !== 'none') {
    const prompt = promptOf(tree);
    const weight = Float64Array.from(tree.turnOf, (row) => (overallNorm === 'turn' ? 1 : row < 0 ? 0 : tokens![row]));
    const sums = new Float64Array(tree.nodeCount);
    const counts = new Float64Array(tree.nodeCount);
    total.forEach((acc, n) => {
      sums[prompt[n]] += acc * weight[n];
      counts[prompt[n]] += leaves[n] * weight[n];
    });
    total.forEach((acc, n) => {
      const [sum, count] = [sums[prompt[n]], counts[prompt[n]]];
      total[n] = count === 0 ? acc : acc - (leaves[n] * sum) / count;
    });
  }
  const value = total.map((acc, n) => {
    const damping = { sqrt: Math.sqrt(chosen[n]), uniform: chosen[n], original: 1, none: 1 }[weightStyle];
    return acc / (chosen[n] === 0 ? 1 : damping) / leaves[n];
  });
  return { value, leaves };
}

/** Mean gain over all ancestors, the prompt among them. */
function gainOverAncestors({ parentNode, depth }: TrajectoryTree, value: Float64Array): Float64Array {
  const above = new Float64Array(value.length);
  return value.map((v, n) => {
    const parent = parentNode[n];
    if (parent < 0) return NaN;
    above[n] = above[parent] + value[parent];
    return v - above[n] / depth[n];
  });
}

function releasedReward(tree: TrajectoryTree, value: Float64Array, { valueMode }: Params): Float64Array {
  if (valueMode === 'allAncestors') return gainOverAncestors(tree, value);
  if (valueMode === 'valueOnly') return value;
  const gain = gains(tree, value);
  // Parents stand before their children, so the gain before is filled already.
  gain.forEach((d, n) => {
    if (tree.depth[n] > 1 && Math.abs(d) < NO_GAIN) gain[n] = gain[tree.parentNode[n]];
  });
  return valueMode === 'advantageOnly' ? gain : gain.map((d, n) => d + value[n]);
}

/**
 * The published formula.
 *
 *     A[n] = ((V[n] − V[prompt]) + (V[n] − V[parent])) / √L[n]      V: mean outcome of the leaves below
 */
function publishedReward(tree: TrajectoryTree, value: Float64Array, leaves: Float64Array): Float64Array {
  const prompt = promptOf(tree);
  return gains(tree, value).map((gain, n) => (value[n] - value[prompt[n]] + gain) / Math.sqrt(leaves[n]));
}

/**
 * TreeRL: a step is worth what the leaves below it are worth against the others, plus what it gained over its parent.
 *
 *     A[n] = d[n] + V[n]      d[n] = V[n] − V[parent], or that of the step before where |d| < 1e-8
 *
 * A parent's value is damped with the parent's own weight, so this is not the published form (variant 'paper').
 */
export const treerl = defineEstimator({
  id: 'treerl',
  version: 1,
  title: 'Process reward of a search tree (TreeRL)',
  citation: {
    code: 'THUDM/TreeRL:openrlhf/trainer/ppo_utils/tree_node.py@f0edbea',
    work: 'TreeRL: LLM Reinforcement Learning with On-Policy Tree Search, 2025',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: ['trajectory.selectedForTraining', 'trajectory.truncated'],
  conditional: [LEAF_OUTCOME, { when: { overallNorm: 'token' }, requires: ['turn.tokenCount'] }],
  params: TreerlParams,
  estimate(trajectories, columns, params) {
    const tree = trajectoryTree(trajectories);
    const outcome = columns['trajectory.outcomeReward'];
    const selected = columns['trajectory.selectedForTraining'];
    const isPaper = params.variant === 'paper';
    const { value, leaves } = isPaper
      ? valuesOf(nodeMeans(tree, outcome, 'leaves'))
      : releasedValue(tree, outcome, selected, columns['turn.tokenCount'], trajectories, params);
    const reward = isPaper ? publishedReward(tree, value, leaves) : releasedReward(tree, value, params);

    const trajectoryOf = ownerOf(trajectories.turnOffsets);
    const isSilent = (t: number) => leaves[tree.nodeOf[t]] === 0 || selected?.[trajectoryOf[t]] === 0;
    const why = `not selected for training, or ${NO_LEAF}`;
    const level = 'turn';
    return {
      level,
      ...silenced(onTurns(tree, reward), why, isSilent),
      explain: { nodeValue: { level, values: silenced(onTurns(tree, value), why, isSilent).values } },
      warnings: tree.warnings,
    };
  },
});

const valuesOf = ({ mean, leaves }: ReturnType<typeof nodeMeans>) => ({ value: mean, leaves });
