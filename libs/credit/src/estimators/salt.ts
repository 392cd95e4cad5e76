import type { TrajectoryBatch } from '#lib/dataset';
import { ownerOf, pairLabels, repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { trajectoryGraph, type TrajectoryGraph } from '../trajectory-graph.js';
import { grpoAdvantage } from './grpo.js';
import { rlooAdvantage } from './rloo.js';

const SaltParams = z.strictObject({
  baseline: z.enum(['grpo', 'rloo']).default('grpo').describe('how a trajectory is judged against its group'),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread (grpo)"),
  historyWindow: z
    .int()
    .min(0)
    .max(64)
    .default(0)
    .describe('how many preceding (state, action) pairs must be equal too before two steps are one'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * Which turns are one step: the same action from the same state to the same state, inside one group, after the same
 * `historyWindow` steps.
 *
 * @returns [turns] labels
 */
export function mergedSteps(
  { turnOffsets, actionKey }: Pick<TrajectoryBatch, 'turnOffsets' | 'actionKey'>,
  { nodeOf, nextNode }: Pick<TrajectoryGraph, 'nodeOf' | 'nextNode'>,
  historyWindow: number,
): { labels: Int32Array; count: number } {
  const acts = pairLabels(nodeOf, actionKey).labels;
  const trajectoryOf = ownerOf(turnOffsets);
  let steps = pairLabels(acts, nextNode);
  for (let back = 1; back <= historyWindow; back++) {
    const before = acts.map((_, t) => (t - back >= turnOffsets[trajectoryOf[t]] ? acts[t - back] + 1 : 0));
    steps = pairLabels(steps.labels, before);
  }
  return steps;
}

/**
 * SALT: a step that several rollouts took gets the mean of what they inherited from their outcomes; a step taken once
 * keeps its trajectory's.
 *
 *     A[i]   from R[i] over the group                                     (grpoAdvantage or rlooAdvantage)
 *     A[i,t] = mean of A[j] over all turns (j,u) that are the same step   (mergedSteps)
 *
 * Every occurrence counts, also repeats inside one trajectory.
 */
export const salt = defineEstimator({
  id: 'salt',
  version: 1,
  title: 'Step-level advantages by trajectory graph (SALT)',
  citation: { paper: 'arXiv:2510.20022' },
  status: 'second-hand',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.state', 'turn.action'],
  accepts: ['trajectory.finalState'],
  kinds: { 'trajectory.finalState': 'text' },
  texts: true,
  params: SaltParams,
  estimate(trajectories, columns, { baseline, epsilon, historyWindow, singleton }) {
    const reward = columns['trajectory.outcomeReward'];
    const ones = new Float64Array(reward.length).fill(1);
    const params = { normalizeByStd: true, epsilon, statsAcross: 'trajectories', singleton } as const;
    const { advantage } =
      baseline === 'grpo'
        ? grpoAdvantage(reward, ones, trajectories, params)
        : rlooAdvantage(reward, trajectories, singleton);

    const graph = trajectoryGraph(trajectories, columns['trajectory.finalState']);
    const steps = mergedSteps(trajectories, graph, historyWindow);
    const inherited = repeatRows(advantage, trajectories.turnOffsets);
    const merged = segmentMoments(inherited, null, steps.labels, steps.count);
    const level = 'turn';
    const ofStep = (perStep: Float64Array) => Float64Array.from(steps.labels, (step) => perStep[step]);
    return {
      level,
      values: ofStep(merged.mean),
      explain: {
        baseAdvantage: { level: 'trajectory', values: advantage },
        mergeCount: { level, values: ofStep(merged.weight) },
      },
    };
  },
});
