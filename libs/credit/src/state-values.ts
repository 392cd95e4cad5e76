import type { NumericValues } from '#lib/dataset';
import { rowsByLabel, type TrajectoryGraph } from './trajectory-graph.js';

export interface SolverParams {
  readonly gamma: number;
  readonly solverTolerance: number;
}

/**
 * Values of the empirical Markov chain: how often a state led to success, discounted by how many turns that took.
 *
 *     V(f) = mean success of the trajectories that ended in f        f: an end
 *     V(u) = mean of γ · V(v) over all turns u → v                    any other node
 *
 * By Gauss-Seidel sweeps, nodes near an end first, each group by itself, until no value moves by more than
 * `solverTolerance` (at most ln tol / ln γ + 50 sweeps). An end is absorbing, also where others went on from it. Nodes
 * from which no end is reached stay 0.
 *
 * @param success [trajectories]
 * @param groupOf [trajectories]
 * @returns [nodes]
 */
export function stateValues(
  graph: TrajectoryGraph,
  success: NumericValues,
  groupOf: Int32Array,
  { gamma, solverTolerance }: SolverParams,
): Float64Array {
  const { value, isEnd } = endValues(graph, success);
  const { offsets, rows } = rowsByLabel(graph.nodeOf, graph.nodeCount);
  const most = Math.ceil(Math.log(solverTolerance) / Math.log(gamma)) + 50;
  const backUp = (node: number) => {
    let sum = 0;
    for (let k = offsets[node]; k < offsets[node + 1]; k++) sum += value[graph.nextNode[rows[k]]];
    return (gamma * sum) / (offsets[node + 1] - offsets[node]);
  };
  for (const nodes of nodesByGroup(graph, isEnd, groupOf)) {
    for (let sweep = 0, moved = Infinity; sweep < most && moved > solverTolerance; sweep++) {
      moved = 0;
      for (const node of nodes) {
        const next = backUp(node);
        moved = Math.max(moved, Math.abs(next - value[node]));
        value[node] = next;
      }
    }
  }
  return value;
}

function endValues({ nodeCount, endNode }: TrajectoryGraph, success: NumericValues) {
  const value = new Float64Array(nodeCount);
  const isEnd = new Int32Array(nodeCount);
  endNode.forEach((node, i) => {
    if (node < 0) return;
    isEnd[node]++;
    value[node] += (success[i] - value[node]) / isEnd[node];
  });
  return { value, isEnd };
}

/** The nodes that are no ends but lead to one, nearest first, apart by group. */
function nodesByGroup(
  { nodeOf, nextNode, endNode, nodeCount }: TrajectoryGraph,
  isEnd: Int32Array,
  groupOf: Int32Array,
) {
  const incoming = rowsByLabel(nextNode, nodeCount);
  const groupOfNode = new Int32Array(nodeCount).fill(-1);
  const queue: number[] = [];
  endNode.forEach((node, i) => {
    if (node < 0 || groupOfNode[node] >= 0) return;
    groupOfNode[node] = groupOf[i];
    queue.push(node);
  });
  const nodes = new Map<number, number[]>();
  for (const node of queue) {
    const group = groupOfNode[node];
    const ofGroup = nodes.get(group) ?? [];
    nodes.set(group, ofGroup);
    if (isEnd[node] === 0) ofGroup.push(node);
    for (let k = incoming.offsets[node]; k < incoming.offsets[node + 1]; k++) {
      const before = nodeOf[incoming.rows[k]];
      if (groupOfNode[before] >= 0) continue;
      groupOfNode[before] = group;
      queue.push(before);
    }
  }
  return nodes.values();
}
