import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { silenced } from '../silenced.js';
import { gains, onTurns, trajectoryTree, type TrajectoryTree } from '../trajectory-tree.js';

const MctsValueParams = z.strictObject({
  variant: z
    .enum(['alphamath', 'discounted', 'decay'])
    .default('alphamath')
    .describe('how results are backed up: a plain mean, discounted per turn, or the later ones counting more'),
  positiveReward: z.number().default(1).describe('alphamath: a success is worth this'),
  negativeReward: z.number().default(-1).describe('alphamath: a failure is worth this'),
  useValueEstimates: z
    .boolean()
    .default(false)
    .describe('alphamath: valueEstimateAfter of a node counts as one more result of it and its ancestors'),
  gamma: z.number().min(0).max(1).default(0.99).describe('discounted: per turn on the way to the prompt'),
  decay: z.number().min(0).max(1).default(0.5).describe('decay: weight of the newest result; reconstructed'),
});
type Params = z.infer<typeof MctsValueParams>;

interface Backup {
  readonly value: Float64Array;
  readonly visits: Float64Array;
}

/**
 * Mean of all results below, each discounted per turn between.
 *
 *     Q[n] = Σ γ^(turns from n to the result) · x / N[n]      0 where nothing was backed up
 *
 * @param results a node and its result
 */
function meanBackup(
  { nodeCount, parentNode }: TrajectoryTree,
  results: readonly (readonly [node: number, x: number])[],
  gamma: number,
): Backup {
  const sum = new Float64Array(nodeCount);
  const visits = new Float64Array(nodeCount);
  for (const [node, x] of results) {
    sum[node] += x;
    visits[node]++;
  }
  for (let n = nodeCount - 1; n >= 0; n--) {
    if (parentNode[n] < 0) continue;
    sum[parentNode[n]] += gamma * sum[n];
    visits[parentNode[n]] += visits[n];
  }
  return { value: sum.map((total, n) => (visits[n] === 0 ? 0 : total / visits[n])), visits };
}

/**
 * The later a result, the more it counts: along the path of each trajectory, in the order of the batch,
 *
 *     Q[parent] ← (1 − g) Q[parent] + g Q[child]      the first visit sets it
 */
function decayBackup({ nodeCount, parentNode, endNode }: TrajectoryTree, outcome: NumericValues, g: number): Backup {
  const value = new Float64Array(nodeCount);
  const visits = new Float64Array(nodeCount);
  endNode.forEach((end, i) => {
    if (Number.isNaN(outcome[i])) return;
    let result = outcome[i];
    for (let n = end; n >= 0; n = parentNode[n]) {
      value[n] = visits[n]++ === 0 ? result : (1 - g) * value[n] + g * result;
      result = value[n];
    }
  });
  return { value, visits };
}

function alphamathResults(
  { endNode, turnOf }: TrajectoryTree,
  success: NumericValues,
  estimates: NumericValues | undefined,
  { positiveReward, negativeReward, useValueEstimates }: Params,
): [number, number][] {
  const results: [number, number][] = [];
  endNode.forEach((node, i) => {
    if (!Number.isNaN(success[i])) results.push([node, success[i] === 1 ? positiveReward : negativeReward]);
  });
  if (!useValueEstimates || !estimates) return results;
  turnOf.forEach((row, node) => {
    if (row >= 0 && !Number.isNaN(estimates[row])) results.push([node, estimates[row]]);
  });
  return results;
}

/**
 * Values of a search tree, backed up from its results, and what each turn changed.
 *
 *     A[n] = Q[n] − Q[parent]      Q by meanBackup or decayBackup
 *
 * alphamath: results ±1 of the leaves, with useValueEstimates one more of every estimated node. discounted: outcomes.
 */
export const mctsValue = defineEstimator({
  id: 'mcts-value',
  version: 1,
  title: 'Backed-up values of a search tree (AlphaMath, ProRAG, Empirical-MCTS)',
  citation: {
    code: 'MARIO-Math-Reasoning/Super_MARIO:mcts_math/nodes/mcts_node.py@c11d2f2',
    work: 'AlphaMath Almost Zero, 2024',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: ['trajectory.truncated'],
  sparse: ['turn.valueEstimateAfter'],
  conditional: [
    { when: { variant: 'alphamath' }, unless: 'trajectory.truncated', requires: ['trajectory.success'] },
    { when: { variant: 'discounted' }, unless: 'trajectory.truncated', requires: ['trajectory.outcomeReward'] },
    { when: { variant: 'decay' }, unless: 'trajectory.truncated', requires: ['trajectory.outcomeReward'] },
    { when: { variant: 'alphamath', useValueEstimates: true }, requires: ['turn.valueEstimateAfter'] },
  ],
  params: MctsValueParams,
  estimate(trajectories, columns, params) {
    const tree = trajectoryTree(trajectories);
    const outcome = columns['trajectory.outcomeReward'];
    const backUp = {
      alphamath: () =>
        meanBackup(
          tree,
          alphamathResults(tree, columns['trajectory.success'], columns['turn.valueEstimateAfter'], params),
          1,
        ),
      discounted: () => meanBackup(tree, leafResults(tree, outcome), params.gamma),
      decay: () => decayBackup(tree, outcome, params.decay),
    };
    const { value, visits } = backUp[params.variant]();
    const { groupCount } = trajectories;
    const level = 'turn';
    return {
      level,
      ...silenced(onTurns(tree, gains(tree, value)), 'never visited', (t) => visits[tree.nodeOf[t]] === 0),
      explain: {
        nodeValue: { level, values: onTurns(tree, value) },
        nodeVisits: { level, values: onTurns(tree, visits) },
        rootValue: { level: 'group', values: value.slice(0, groupCount) },
        rootVisits: { level: 'group', values: visits.slice(0, groupCount) },
      },
      warnings: tree.warnings,
    };
  },
});

const leafResults = ({ endNode }: TrajectoryTree, outcome: NumericValues) =>
  Array.from(endNode, (node, i) => [node, outcome[i]] as const).filter(([, x]) => !Number.isNaN(x));
