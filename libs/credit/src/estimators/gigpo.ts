import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, segmentCentred, unsetDoubles } from '#lib/numeric';
import { z } from 'zod';
import { episodeAdvantage } from '../episode-advantage.js';
import { defineEstimator } from '../estimator.js';
import { actionPenalties } from '../invalid-actions.js';
import { standardScores } from '../standard-scores.js';
import { equalStates, similarStates, type StateGroups } from '../state-groups.js';

const GigpoParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(0.95).describe('discount per turn'),
  stepAdvantageWeight: z.number().default(1).describe('weight of the step part added to the episode part'),
  normalizeByStd: z
    .boolean()
    .default(false)
    .describe("divide both parts by their spread (the reference's mean_std_norm)"),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread'),
  statsAcross: z
    .enum(['turns', 'trajectories'])
    .default('turns')
    .describe("sample of the episode part: every turn, as the code, or every trajectory once, as the paper's formula"),
  enableSimilarity: z.boolean().default(false).describe('similar states share an anchor, not only equal ones'),
  similarityThreshold: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.95)
    .describe("least difflib ratio of a state and its anchor's first state"),
  invalidActionPenalty: z
    .number()
    .nonnegative()
    .default(0)
    .describe('taken from both scores of a turn whose action is not valid'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("episode part of a group whose sample is one row: its score ('raw', as verl-agent) or 0 ('zero')"),
});

/**
 * The step part: a turn is judged by its return against the turns that started from the same state.
 *
 *     (Y[t] − mean_a Y) / (std_a Y + ε)      t in anchor group a, std with ddof = 1; without normalizeByStd no division
 *
 * A turn alone in its anchor group gets 0.
 *
 * @param score [turns]
 * @returns [turns]
 */
export function stepAdvantage(
  score: Float64Array,
  anchors: StateGroups,
  { normalizeByStd, epsilon }: Pick<z.infer<typeof GigpoParams>, 'normalizeByStd' | 'epsilon'>,
): Float64Array {
  if (!normalizeByStd) return segmentCentred(score, anchors.labels, anchors.count);
  return standardScores(score, anchors.labels, anchors.count, { epsilon, singleton: 'zero' });
}

/** null: nobody pays. */
function penaltiesOf(
  isActionValid: NumericValues | undefined,
  turnCount: number,
  { invalidActionPenalty }: z.infer<typeof GigpoParams>,
): Float64Array | null {
  if (!isActionValid || invalidActionPenalty === 0) return null;
  return actionPenalties(isActionValid, turnCount, invalidActionPenalty);
}

function anchorsOf(trajectories: TrajectoryBatch, params: z.infer<typeof GigpoParams>): StateGroups {
  if (!params.enableSimilarity) return equalStates(trajectories);
  return similarStates(trajectories, trajectories.texts!.states, params.similarityThreshold);
}

// Plain loops: a callback per turn costs more than what it computes.

function less(values: Float64Array, taken: Float64Array): Float64Array {
  const left = unsetDoubles(values.length);
  for (let t = 0; t < left.length; t++) left[t] = values[t] - taken[t];
  return left;
}

function weightedSum(a: Float64Array, b: Float64Array, weight: number): Float64Array {
  const sum = unsetDoubles(a.length);
  for (let t = 0; t < sum.length; t++) sum[t] = a[t] + weight * b[t];
  return sum;
}

/**
 * GiGPO: the outcome against the group, plus the return against all turns of the group that started from the same
 * state (the anchor).
 *
 *     G[i,t] = r[i,t] + γ · G[i,t+1]        p[i,t] = penalty of an invalid action, after discounting: its own turn only
 *     E[i,t] from R[i] − p[i,t] over the group       (episodeAdvantage)
 *     S[i,t] from G[i,t] − p[i,t] over the anchor    (stepAdvantage)
 *     A[i,t] = E[i,t] + w · S[i,t]
 *
 * With similarity, threshold 0.85: SLEA-RL (arXiv:2603.18079).
 */
export const gigpo = defineEstimator({
  id: 'gigpo',
  version: 1,
  title: 'Group-in-group advantage (GiGPO; with similarity SLEA-RL)',
  citation: { paper: 'arXiv:2505.10978', code: 'langfengQ/verl-agent:gigpo/core_gigpo.py@20bd331' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.reward', 'turn.state'],
  accepts: ['turn.isActionValid'],
  conditional: [{ when: { enableSimilarity: true }, texts: true }],
  params: GigpoParams,
  estimate(trajectories, columns, params) {
    const level = 'turn';
    const turnReturn = discountedSums(columns['turn.reward'], trajectories.turnOffsets, params.gamma);
    const penalty = penaltiesOf(columns['turn.isActionValid'], turnReturn.length, params);
    const anchors = anchorsOf(trajectories, params);

    const episode = episodeAdvantage(columns['trajectory.outcomeReward'], penalty, trajectories, params);
    const step = stepAdvantage(penalty ? less(turnReturn, penalty) : turnReturn, anchors, params);
    const values = weightedSum(episode, step, params.stepAdvantageWeight);
    return {
      level,
      values,
      explain: {
        turnReturn: { level, values: turnReturn },
        episodeAdvantage: { level, values: episode },
        stepGroup: { level, values: new Float64Array(anchors.labels), partition: true },
        stepAdvantage: { level, values: step },
      },
    };
  },
});
