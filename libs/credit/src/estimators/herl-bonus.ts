import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import { Flag } from '../signal-kinds.js';

/** Scores nearer than this to the best of a group share its place. */
const TIE = 1e-6;

const HerlBonusParams = z.strictObject({
  bonusWeight: z
    .number()
    .default(0.05)
    .describe("share of a revision's gain that its rollout gets (the paper's alpha)"),
  successThreshold: z.number().default(1).describe('a group whose best score reaches this is not revised'),
  candidateLimit: z.int().nonnegative().default(16).describe('how many of the best rollouts of a group may be revised'),
  ...GROUP_PARAMS,
});

/**
 * Which rollouts are worth a revision: the best of a group that nobody solved, those first that satisfy more criteria.
 *
 * @param score, satisfied [trajectories] rubric score, and the number of satisfied criteria
 * @returns [trajectories] flags
 */
export function revisionCandidates(
  score: NumericValues,
  satisfied: readonly number[],
  trajectories: TrajectoryBatch,
  { successThreshold, candidateLimit }: Pick<z.infer<typeof HerlBonusParams>, 'successThreshold' | 'candidateLimit'>,
): Float64Array {
  const isCandidate = new Float64Array(score.length);
  for (const members of groupMembers(trajectories)) {
    const best = members.reduce((max, i) => Math.max(max, score[i]), -Infinity);
    if (best >= successThreshold) continue;
    const tied = members.filter((i) => Math.abs(score[i] - best) < TIE);
    const ordered = tied.toSorted((a, b) => satisfied[b] - satisfied[a]);
    for (const i of ordered.slice(0, candidateLimit)) isCandidate[i] = 1;
  }
  return isCandidate;
}

/**
 * HeRL: the best rollouts of a group that nobody solved are revised, and one whose revision scores higher had potential.
 *
 *     R[i] = s[i] + α · (max revised score of i − s[i])      for candidates with a revision; may be lower than s[i]
 *     R[i] = s[i]                                            for all others
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)               ddof = 1
 */
export const herlBonus = defineEstimator({
  id: 'herl-bonus',
  version: 1,
  title: 'Hindsight revision bonus (HeRL)',
  citation: { paper: 'arXiv:2603.20046', code: 'sikelifei/HeRL:verl/trainer/ppo/ray_trainer.py@c527572' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.rubricScore', 'trajectory.satisfied'],
  accepts: ['trajectory.revisedScores'],
  kinds: { 'trajectory.satisfied': z.array(Flag), 'trajectory.revisedScores': z.array(z.number()) },
  params: HerlBonusParams,
  estimate(trajectories, columns, params) {
    const score = columns['trajectory.rubricScore'];
    const satisfied = columns['trajectory.satisfied'].map((flags) => flags!.reduce((sum, flag) => sum + flag, 0));
    const isCandidate = revisionCandidates(score, satisfied, trajectories, params);
    const reward = Float64Array.from(score, (s, i) => {
      const revised = columns['trajectory.revisedScores']?.[i] ?? [];
      if (isCandidate[i] === 0 || revised.length === 0) return s;
      return s + params.bonusWeight * (revised.reduce((max, r) => Math.max(max, r), -Infinity) - s);
    });
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        isCandidate: { level, values: isCandidate },
        trajectoryReward: { level, values: reward },
      },
    };
  },
});
