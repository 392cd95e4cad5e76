import type { TrajectoryBatch } from '#lib/dataset';
import { LEAST_SPREAD, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled } from '../group-scores.js';
import { stateValues } from '../state-values.js';
import { rowsByLabel, trajectoryGraph, type TrajectoryGraph } from '../trajectory-graph.js';

const GraftParams = z.strictObject({
  gamma: z.number().min(0).lt(1).default(0.99).describe('discount per turn'),
  lambda: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe('trace decay per hop: 0.95 for ALFWorld, 0.8 for WebShop, 0.6 for search'),
  normalizeAdvantage: z.boolean().default(true).describe('standardise over the turns that left the same state'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread (not published)'),
  ddof: z
    .union([z.literal(0), z.literal(1)])
    .default(1)
    .describe('spread of the population (0) or of a sample (1); not published'),
  singleton: z
    .enum(['sign', 'zero'])
    .default('sign')
    .describe("normalised: a turn that alone left its state gets its sign ('sign', as the paper) or 0 ('zero')"),
  solverTolerance: z
    .number()
    .min(1e-15)
    .lt(1)
    .default(1e-15)
    .describe('when the values stop moving (1e-8 in the paper: dividing by a small spread shows that)'),
});

/**
 * Mean of d over the turns that can follow from a node, hop by hop: those that leave it, those that leave any node they
 * led to, and so on. It ends where no turn leaves.
 *
 * @param mostHops [nodes]
 * @returns [nodes] the discounted sum after 1, 2, … hops
 */
function hopSums(
  { nodeCount, nodeOf, nextNode }: TrajectoryGraph,
  difference: Float64Array,
  mostHops: Int32Array,
  decay: number,
): readonly (readonly number[])[] {
  const { offsets, rows } = rowsByLabel(nodeOf, nodeCount);
  const seenAt = new Int32Array(nodeCount).fill(-1);
  let mark = 0;
  return Array.from(mostHops, (most, start) => {
    const sums: number[] = [];
    let here = [start];
    for (let hop = 1, weight = decay, total = 0; hop <= most && weight > 0; hop++, weight *= decay) {
      const reached: number[] = [];
      let sum = 0;
      let count = 0;
      mark++;
      for (const node of here) {
        for (let k = offsets[node]; k < offsets[node + 1]; k++) {
          sum += difference[rows[k]];
          count++;
          const to = nextNode[rows[k]];
          if (seenAt[to] !== mark) reached.push(to);
          seenAt[to] = mark;
        }
      }
      if (count === 0) break;
      total += weight * (sum / count);
      sums.push(total);
      here = reached;
    }
    return sums;
  });
}

/**
 * Temporal differences on the graph, spread over what could have followed.
 *
 *     d[t] = γ · V(next) − V(s)
 *     A[t] = d[t] + Σ_{k=1..T−t} (γλ)^k · mean of d over the turns k hops after s[t+1]
 *
 * The limit T − t is one more than the trajectory itself can use; longer siblings use it.
 *
 * @param value [nodes]
 * @returns [turns]
 */
export function graphAdvantage(
  graph: TrajectoryGraph,
  value: Float64Array,
  { turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>,
  { gamma, lambda }: { readonly gamma: number; readonly lambda: number },
): Float64Array {
  const { nodeOf, nextNode, nodeCount } = graph;
  const difference = Float64Array.from(nodeOf, (node, t) => gamma * value[nextNode[t]] - value[node]);
  const hopsLeft = new Int32Array(nodeOf.length);
  const mostHops = new Int32Array(nodeCount);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      hopsLeft[t] = turnOffsets[i + 1] - t;
      mostHops[nextNode[t]] = Math.max(mostHops[nextNode[t]], hopsLeft[t]);
    }
  }
  const sums = hopSums(graph, difference, mostHops, gamma * lambda);
  return difference.map((d, t) => {
    const after = sums[nextNode[t]];
    return d + (after[Math.min(hopsLeft[t], after.length) - 1] ?? 0);
  });
}

/** Errors of the solver, and what sums make of them, are below this many tolerances. */
const NOISE = 1000;

/**
 * What the solver's rest makes differ is equal: a tiny difference divided by ε would be a visible advantage. Of a node's
 * turns those that equal the first get its value, and what equals 0 is 0.
 */
function withoutSolverNoise(
  advantage: Float64Array,
  { nodeOf, nodeCount }: TrajectoryGraph,
  { gamma, solverTolerance }: Pick<z.infer<typeof GraftParams>, 'gamma' | 'solverTolerance'>,
): Float64Array {
  const noise = Math.max(LEAST_SPREAD, (NOISE * solverTolerance) / (1 - gamma));
  const first = new Float64Array(nodeCount).fill(NaN);
  return advantage.map((a, t) => {
    if (Math.abs(a) <= noise) return 0;
    const known = first[nodeOf[t]];
    if (Math.abs(a - known) <= noise) return known;
    if (Number.isNaN(known)) first[nodeOf[t]] = a;
    return a;
  });
}

/** (A − mean) / (std + ε) over the turns that left the same node; one turn alone: its sign, A / (|A| + ε), or 0. */
function normalizedByNode(
  advantage: Float64Array,
  { nodeOf, nodeCount }: TrajectoryGraph,
  { epsilon, ddof, singleton }: Pick<z.infer<typeof GraftParams>, 'epsilon' | 'ddof' | 'singleton'>,
): Float64Array {
  const moments = segmentMoments(advantage, null, nodeOf, nodeCount, ddof);
  const scores = scaled(centred(advantage, nodeOf, moments, 'raw'), nodeOf, moments, epsilon);
  return scores.map((score, t) => {
    if (moments.weight[nodeOf[t]] !== 1 || advantage[t] === 0) return score;
    return singleton === 'zero' ? 0 : advantage[t] / (Math.abs(advantage[t]) + epsilon);
  });
}

/**
 * GRAFT: the rollouts of a group as one empirical Markov chain; a turn is judged by how it moved the chance of success.
 *
 *     V from success over the merged graph           (stateValues)
 *     A[t] from V, λ-averaged over what can follow   (graphAdvantage)
 *     standardised over the turns that left the same state
 */
export const graft = defineEstimator({
  id: 'graft',
  version: 1,
  title: 'Graph-based step-level advantages (GRAFT)',
  citation: { work: 'GRAFT: graph-based faithful step-level credit assignment' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.success', 'trajectory.finalState', 'turn.state'],
  accepts: [],
  kinds: { 'trajectory.finalState': 'text' },
  texts: true,
  params: GraftParams,
  estimate(trajectories, columns, params) {
    const graph = trajectoryGraph(trajectories, columns['trajectory.finalState']);
    const value = stateValues(graph, columns['trajectory.success'], trajectories.groupOf, params);
    const advantage = graphAdvantage(graph, value, trajectories, params);
    const level = 'turn';
    return {
      level,
      values: params.normalizeAdvantage
        ? normalizedByNode(withoutSolverNoise(advantage, graph, params), graph, params)
        : advantage,
      explain: {
        stateValue: { level, values: Float64Array.from(graph.nodeOf, (node) => value[node]) },
        graphAdvantage: { level, values: advantage },
      },
    };
  },
});
