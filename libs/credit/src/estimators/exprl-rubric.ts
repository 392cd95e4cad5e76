import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { processSupervision } from '../process-supervision.js';

const ExprlRubricParams = z.strictObject({
  variant: z
    .enum(['outcome', 'process'])
    .default('outcome')
    .describe('credit per trajectory, or per turn by the turn that first met a criterion'),
  scoreScale: z.number().positive().default(1).describe("the judge's highest score of a criterion"),
  ...GROUP_PARAMS,
});

const Criterion = z.object({
  weight: z.number().nullish(),
  score: z.number().nullish(),
  firstTurn: z.int().nonnegative().nullish(),
});
const Criteria = z.array(Criterion);

/** A criterion's part of the reward, which add up to at most 1: weight · score over all weights. */
interface Part {
  readonly value: number;
  readonly firstTurn: number | null;
}

/**
 * What each criterion adds.
 *
 *     part_j = w_j · clip(score_j / scale, 0, 1) / Σ |w|      no weight: 1; a failed judgement: 0
 */
export function rubricParts(criteria: z.infer<typeof Criteria>, scoreScale: number): Part[] {
  const total = criteria.reduce((sum, { weight }) => sum + Math.abs(weight ?? 1), 0);
  return criteria.map(({ weight, score, firstTurn }) => {
    const met = (weight ?? 1) * Math.min(1, Math.max(0, (score ?? 0) / scoreScale));
    return { value: total === 0 ? 0 : met / total, firstTurn: firstTurn ?? null };
  });
}

/** [turns] what the criteria that were first met in a turn add; one without such a turn adds nowhere. */
function newlyMet({ turnOffsets, stateKey }: TrajectoryBatch, parts: readonly (readonly Part[])[]): Float64Array {
  const reward = new Float64Array(stateKey.length);
  parts.forEach((own, i) => {
    for (const { value, firstTurn } of own) {
      const turn = turnOffsets[i] + (firstTurn ?? Infinity);
      if (turn < turnOffsets[i + 1]) reward[turn] += value;
    }
  });
  return reward;
}

/**
 * ExpRL: a rubric made of a hidden reference solution pays partial progress.
 *
 *     R[i] = Σ_j part_j      (rubricParts)
 *     outcome: A[i] = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 *     process: r[t] = Σ part_j first met in t,  A[t] = Σ_{u ≥ t} normalised r[u]      (processSupervision)
 */
export const exprlRubric = defineEstimator({
  id: 'exprl-rubric',
  version: 1,
  title: 'Rubric of a hidden reference (ExpRL)',
  citation: { paper: 'arXiv:2606.17024' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory', 'turn'],
  groupRelative: true,
  requires: ['trajectory.criteria'],
  accepts: [],
  kinds: { 'trajectory.criteria': Criteria },
  params: ExprlRubricParams,
  estimate(trajectories, columns, params) {
    const parts = columns['trajectory.criteria'].map((criteria) => rubricParts(criteria!, params.scoreScale));
    const reward = Float64Array.from(parts, (own) => own.reduce((sum, { value }) => sum + value, 0));
    const trajectoryReward = { level: 'trajectory', values: reward } as const;
    if (params.variant === 'outcome') {
      return {
        level: 'trajectory',
        values: groupAdvantage(reward, trajectories, params),
        explain: { trajectoryReward },
      };
    }
    const level = 'turn';
    const turnReward = newlyMet(trajectories, parts);
    const { advantage } = processSupervision(turnReward, trajectories, params);
    return { level, values: advantage, explain: { trajectoryReward, turnReward: { level, values: turnReward } } };
  },
});
