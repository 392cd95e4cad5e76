import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';
import { rowsByLabel, trajectoryGraph, type TrajectoryGraph } from '../trajectory-graph.js';

const GraphgpoParams = z.strictObject({
  successReward: z.number().default(1).describe('reward of a turn that ends in success (not published)'),
  distanceDecay: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.5)
    .describe('what is left of it per turn that is still to go (not published)'),
  normalizeByStd: z.boolean().default(true).describe('divide by the spread of the turns that left the same state'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to that spread'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('zero')
    .describe("a turn that alone left its state keeps its reward ('raw') or gets 0 ('zero')"),
});

/**
 * How many turns each node is away from success, by the shortest way that any rollout of the group took.
 *
 * @param success [trajectories] above 0: its end is a success
 * @returns [nodes] Infinity where none was reached
 */
export function distanceToSuccess(graph: TrajectoryGraph, success: NumericValues): Float64Array {
  const { nodeOf, nextNode, endNode, nodeCount } = graph;
  const distance = new Float64Array(nodeCount).fill(Infinity);
  const queue: number[] = [];
  endNode.forEach((node, i) => {
    if (node < 0 || !(success[i] > 0) || distance[node] === 0) return;
    distance[node] = 0;
    queue.push(node);
  });
  const incoming = rowsByLabel(nextNode, nodeCount);
  for (const node of queue) {
    for (let k = incoming.offsets[node]; k < incoming.offsets[node + 1]; k++) {
      const before = nodeOf[incoming.rows[k]];
      if (distance[before] !== Infinity) continue;
      distance[before] = distance[node] + 1;
      queue.push(before);
    }
  }
  return distance;
}

/**
 * GraphGPO: a turn is rewarded by how near to success the state is that it led to, against the other turns that left the
 * same state.
 *
 *     r[t] = rSucc · w^d(s[t+1])      d: the shortest way to a success on the merged graph; 0 where there is none
 *     A[t] = (r[t] − mean) / (std + ε) over the turns of the group that left the same state, ddof = 1
 */
export const graphgpo = defineEstimator({
  id: 'graphgpo',
  version: 1,
  title: 'Distance-to-success step rewards on the trajectory graph (GraphGPO)',
  citation: { work: 'GraphGPO, as described in GRAFT: graph-based faithful step-level credit assignment' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.success', 'trajectory.finalState', 'turn.state'],
  accepts: [],
  kinds: { 'trajectory.finalState': 'text' },
  texts: true,
  params: GraphgpoParams,
  estimate(trajectories, columns, params) {
    const { successReward, distanceDecay } = params;
    const graph = trajectoryGraph(trajectories, columns['trajectory.finalState']);
    const ofNode = distanceToSuccess(graph, columns['trajectory.success']);
    const distance = Float64Array.from(graph.nextNode, (node) => ofNode[node]);
    const reward = distance.map((d) => (d === Infinity ? 0 : successReward * distanceDecay ** d));
    const level = 'turn';
    return {
      level,
      values: standardScores(reward, graph.nodeOf, graph.nodeCount, params),
      explain: {
        turnReward: { level, values: reward },
        turnsToSuccess: { level, values: distance.map((d) => (d === Infinity ? NaN : d)) },
      },
    };
  },
});
