import type { TrajectoryBatch } from '#lib/dataset';
import { discountedSums, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { episodeAdvantage } from '../episode-advantage.js';
import { defineEstimator } from '../estimator.js';
import { actionPenalties } from '../invalid-actions.js';
import { standardScores } from '../standard-scores.js';
import { equalStates, type StateGroups } from '../state-groups.js';

const HgpoParams = z.strictObject({
  historyWindow: z.int().min(0).max(64).default(2).describe('preceding states that may also have to match'),
  gamma: z.number().min(0).max(1).default(0.95).describe('discount per turn'),
  normalizeByStd: z.boolean().default(true).describe('divide by the spread of the context group (ddof 0)'),
  lengthWeightAlpha: z.number().default(1).describe('weight of a context of k states: (k + 1) to this power'),
  baseGroup: z.boolean().default(false).describe("the episode advantage joins as an item of weight 1 (GiGPO's)"),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread and to the sum of weights'),
  invalidActionPenalty: z
    .number()
    .nonnegative()
    .default(0)
    .describe('taken from the score of a turn whose action is not valid'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("baseGroup's episode part of a group whose sample is one row: its score ('raw') or 0 ('zero')"),
});

/** An item this small is rounding: it takes no part in the weights. */
const NO_ITEM = 1e-12;

/**
 * Nested context groups: at depth k the turns of a group that share their last k states, in order, the current one
 * included. Depth 1 is the anchor group; a turn has as many depths as it has states, at most `depths`.
 *
 * @returns per depth, label of the context [turns], -1 for a turn too early in its trajectory
 */
export function contextGroups(trajectories: TrajectoryBatch, depths: number): StateGroups[] {
  const anchors = equalStates(trajectories);
  const contexts = [anchors];
  for (let k = 2; k <= depths; k++) {
    const { labels, count } = contexts[k - 2];
    const before = labels.map((_, t) => (t === 0 ? -1 : labels[t - 1]));
    for (const first of trajectories.turnOffsets) if (first < before.length) before[first] = -1;
    if (count === 0) break;
    contexts.push(pairLabels(before, anchors.labels));
  }
  return contexts;
}

/** [turns] the sizes of a turn's context groups, k = 1, 2, …, as a column of lists. */
function contextSizes(contexts: readonly StateGroups[], turnCount: number) {
  const sizes = contexts.map(({ labels, count }) => {
    const size = new Int32Array(count);
    for (const label of labels) if (label >= 0) size[label]++;
    return size;
  });
  const offsets = new Int32Array(turnCount + 1);
  for (const { labels } of contexts) for (let t = 0; t < turnCount; t++) if (labels[t] >= 0) offsets[t + 1]++;
  for (let t = 0; t < turnCount; t++) offsets[t + 1] += offsets[t];

  const values = new Float64Array(offsets[turnCount]);
  contexts.forEach(({ labels }, depth) => {
    for (let t = 0; t < turnCount; t++) if (labels[t] >= 0) values[offsets[t] + depth] = sizes[depth][labels[t]];
  });
  return { level: 'turn', values, offsets } as const;
}

/** Adds one item per turn to the weighted sum; what is zero takes no part. */
function addItems(sum: Float64Array, weights: Float64Array, items: Float64Array, weight: number): void {
  for (let t = 0; t < items.length; t++) {
    if (Math.abs(items[t]) <= NO_ITEM) continue;
    sum[t] += weight * items[t];
    weights[t] += weight;
  }
}

/**
 * HGPO: a turn is judged against the turns that share its last k states, for k = 1, 2, …; deeper shared history
 * weighs more.
 *
 *     Y[i,t] = G[i,t] − p[i,t]                        return and penalty as in GiGPO
 *     a_k    = (Y − mean_c Y) / (std_c Y + ε)         over context c of k states, ddof = 0
 *     A      = Σ_k w_k a_k / (Σ_k w_k + ε)            w_k = (k + 1)^α, over the contexts with a_k ≠ 0
 *
 * A context of one turn, and one whose returns agree, takes no part; where none is left A = 0. With baseGroup the
 * episode advantage is the item k = 0. It is not added to an episode advantage.
 */
export const hgpo = defineEstimator({
  id: 'hgpo',
  version: 1,
  title: 'Hierarchy-of-groups advantage (HGPO)',
  citation: { paper: 'arXiv:2602.22817', code: 'langfengQ/verl-agent:recipe/hgpo/core_hgpo.py@20bd331' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.reward', 'turn.state'],
  accepts: ['turn.isActionValid'],
  conditional: [{ when: { baseGroup: true }, requires: ['trajectory.outcomeReward'] }],
  params: HgpoParams,
  estimate(trajectories, columns, params) {
    const level = 'turn';
    const turnReturn = discountedSums(columns['turn.reward'], trajectories.turnOffsets, params.gamma);
    const turnCount = turnReturn.length;
    const penalty = actionPenalties(columns['turn.isActionValid'], turnCount, params.invalidActionPenalty);
    const score = turnReturn.map((value, t) => value - penalty[t]);
    const contexts = contextGroups(trajectories, params.historyWindow + 1);

    const sum = new Float64Array(turnCount);
    const weights = new Float64Array(turnCount);
    contexts.forEach(({ labels, count }, depth) => {
      const items = standardScores(score, labels, count, { ...params, singleton: 'zero', ddof: 0 });
      addItems(sum, weights, items, (depth + 2) ** params.lengthWeightAlpha);
    });
    if (params.baseGroup) {
      const reward = columns['trajectory.outcomeReward'];
      addItems(sum, weights, episodeAdvantage(reward, penalty, trajectories, { ...params, statsAcross: 'turns' }), 1);
    }

    const values = sum.map((value, t) => (weights[t] === 0 ? 0 : value / (weights[t] + params.epsilon)));
    const explain = {
      turnReturn: { level, values: turnReturn },
      contextGroupSize: contextSizes(contexts, turnCount),
    } as const;
    return { level, values, explain };
  },
});
