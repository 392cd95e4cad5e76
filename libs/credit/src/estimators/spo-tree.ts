import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { LEAF_OUTCOME } from '../leaf-outcomes.js';
import { silenced } from '../silenced.js';
import { gains, NO_LEAF, nodeMeans, onTurns, trajectoryTree, type TrajectoryTree } from '../trajectory-tree.js';

const SpoTreeParams = z.strictObject({
  baseline: z
    .enum(['rloo', 'grpo'])
    .default('rloo')
    .describe('the gain over the parent alone, or divided by the spread among the siblings'),
  epsilon: z.number().nonnegative().default(1e-8).describe('added to that spread'),
  onlyNonZero: z
    .boolean()
    .default(true)
    .describe('only edges whose advantage and prover part do not cancel are trained (turnTrained)'),
  usePav: z
    .boolean()
    .default(false)
    .describe("credit is the child's value plus 5 times the prover part, as the reference trains it then"),
});

/** Solutions that the prover may try: its success from a node of value v is 1 − (1 − v)⁴. */
const PROVER_TRIES = 4;
const PROVER_WEIGHT = 5;

/** [nodes] spread of a node among its siblings; a trajectory that ended at the parent is one of them. ddof = 0 */
function siblingSpread(
  { nodeCount, parentNode, endNode }: TrajectoryTree,
  value: Float64Array,
  outcome: ArrayLike<number>,
): Float64Array {
  const values = Float64Array.from({ length: nodeCount + endNode.length }, (_, n) =>
    n < nodeCount ? value[n] : outcome[n - nodeCount],
  );
  const familyOf = Int32Array.from(values, (v, n) =>
    Number.isNaN(v) ? -1 : n < nodeCount ? parentNode[n] : endNode[n - nodeCount],
  );
  const { std } = segmentMoments(values, null, familyOf, nodeCount, 0);
  return Float64Array.from(parentNode, (parent) => (parent < 0 ? NaN : std[parent]));
}

/**
 * SPO-tree: an edge is worth the value of the node it leads to less that of the node it left.
 *
 *     v[n] = outcome of a leaf; else the mean over the DIRECT children
 *     A[n] = v[n] − v[parent]                       rloo
 *            (v[n] − v[parent]) / (std + ε)         grpo, over the children of the parent, ddof = 0
 *     P[n] = B(v[n]) − B(v[parent])                 B(v) = 1 − (1 − v)⁴
 *
 * An unbalanced tree weighs branches, not leaves. A child alone gets 0, and so do siblings that agree.
 */
export const spoTree = defineEstimator({
  id: 'spo-tree',
  version: 1,
  title: 'Segment advantages on a tree (SPO-tree)',
  citation: {
    paper: 'arXiv:2505.23564',
    code: 'AIFrameResearch/SPO:tree_episode_generator.py@b9fc6a2',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: ['trajectory.truncated'],
  conditional: [LEAF_OUTCOME],
  params: SpoTreeParams,
  estimate(trajectories, columns, { baseline, epsilon, onlyNonZero, usePav }) {
    const tree = trajectoryTree(trajectories);
    const outcome = columns['trajectory.outcomeReward'];
    const { mean: value, leaves } = nodeMeans(tree, outcome, 'children');
    const gain = gains(tree, value);
    const prover = gains(
      tree,
      value.map((v) => 1 - (1 - v) ** PROVER_TRIES),
    );
    const spread = siblingSpread(tree, value, outcome);
    const advantage = baseline === 'rloo' ? gain : gain.map((a, n) => (a === 0 ? 0 : a / (spread[n] + epsilon)));
    const trained = advantage.map((a, n) => Number(!onlyNonZero || a + prover[n] !== 0));
    const credit = usePav ? value.map((v, n) => v + PROVER_WEIGHT * prover[n]) : advantage;

    const level = 'turn';
    const isSilent = (t: number) => leaves[tree.nodeOf[t]] === 0;
    const turns = (perNode: Float64Array) => silenced(onTurns(tree, perNode), NO_LEAF, isSilent);
    return {
      level,
      ...turns(credit),
      explain: {
        nodeValue: { level, values: turns(value).values },
        turnProverAdvantage: { level, values: turns(prover).values },
        turnTrained: { level, values: turns(trained).values },
        rootValue: { level: 'group', values: value.slice(0, trajectories.groupCount) },
      },
      warnings: tree.warnings,
    };
  },
});
