import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';

const TrustGrpoParams = z.strictObject({
  variant: z
    .enum(['released', 'paper'])
    .default('released')
    .describe("what the code does, or the paper's equations ('paper')"),
  thinkingWeight: z.number().default(0.3).describe("weight of the judged thinking (the paper's alpha)"),
  annealSteps: z.number().positive().default(500).describe('training steps in which that weight falls to 1/e'),
  trainingStep: z
    .int()
    .nonnegative()
    .nullable()
    .default(null)
    .describe("the step that the weight is annealed to; null: the trajectories' own"),
  correctThreshold: z.number().default(0.5).describe('answers that score at least this are right'),
  judgeThreshold: z.number().default(0.2).describe("released: below this score an answer's thinking counts 0"),
  allCorrectThreshold: z.number().default(0.9).describe('released: a group that scores at least this needs no judge'),
  allWrongThreshold: z.number().default(0.1).describe('released: nor does one that scores at most this'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof TrustGrpoParams>;

/** Of one group: what was judged, and how far it is trusted. */
interface Trust {
  /** false: no thinking enters */
  readonly judges: boolean;
  /** mean judged thinking of right and of wrong answers; 0 where there is none */
  readonly correct: number;
  readonly wrong: number;
  readonly hasCorrect: boolean;
  readonly hasWrong: boolean;
}

/** Sums over a group's members, in the order of the batch. */
function trustOf(members: readonly number[], score: NumericValues, used: Float64Array, params: Params): Trust {
  const scores = members.map((i) => score[i]);
  const agrees =
    scores.every((s) => s >= params.allCorrectThreshold) || scores.every((s) => s <= params.allWrongThreshold);
  const mean = (rows: readonly number[]) =>
    rows.length === 0 ? 0 : rows.reduce((sum, i) => sum + used[i], 0) / rows.length;
  const right = members.filter((i) => score[i] >= params.correctThreshold);
  const wrong = members.filter((i) => !(score[i] >= params.correctThreshold));
  return {
    judges: params.variant === 'paper' || !agrees,
    correct: mean(right),
    wrong: mean(wrong),
    hasCorrect: right.length > 0,
    hasWrong: wrong.length > 0,
  };
}

/** gamma: what the thinking reward is really multiplied with, and what the code logs under that name. */
function gammas({ judges, correct, wrong, hasCorrect, hasWrong }: Trust, { variant }: Params) {
  const damped = correct < wrong ? Math.exp(correct - wrong) : 1;
  if (variant === 'paper') {
    const applied = hasCorrect && hasWrong ? damped : 1;
    return { applied, logged: applied };
  }
  if (!judges) return { applied: 0, logged: 0.5 };
  return { applied: hasCorrect ? damped : 1, logged: damped ** 2 };
}

/**
 * Trust-GRPO: judged thinking is added to the answer's score, less as training goes on, and less where wrong answers are
 * judged better than right ones.
 *
 *     u[i] = judged thinking        released: 0 below judgeThreshold, and in groups that agree
 *     γ    = 1 where mean u of right answers ≥ mean u of wrong ones, else exp(their difference)
 *     R[i] = score[i] + γ · α · exp(−s / T) · u[i]
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const trustGrpo = defineEstimator({
  id: 'trust-grpo',
  version: 1,
  title: 'Thinking reward under trust (Trust-GRPO)',
  citation: { code: 'kxfan2002/SophiaVL-R1:verl/workers/reward/custom.py@a818494' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.answerScore', 'trajectory.thinkingReward'],
  accepts: [],
  params: TrustGrpoParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.answerScore': score, 'trajectory.thinkingReward': thinking } = columns;
    const isPaper = params.variant === 'paper';
    const used = Float64Array.from(thinking, (u, i) => (isPaper || score[i] >= params.judgeThreshold ? u : 0));
    const gammaLogged = new Float64Array(used.length);
    const appliedCoefficient = new Float64Array(used.length);
    for (const members of groupMembers(trajectories)) {
      const trust = trustOf(members, score, used, params);
      const { applied, logged } = gammas(trust, params);
      for (const i of members) {
        const step = params.trainingStep ?? trajectories.trainingStep[i];
        gammaLogged[i] = logged;
        appliedCoefficient[i] = applied * params.thinkingWeight * Math.exp(-step / params.annealSteps);
        if (!trust.judges) used[i] = 0;
      }
    }
    const reward = used.map((u, i) => score[i] + appliedCoefficient[i] * u);
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        thinkingUsed: { level, values: used },
        gammaLogged: { level, values: gammaLogged },
        appliedCoefficient: { level, values: appliedCoefficient },
        trajectoryReward: { level, values: reward },
      },
    };
  },
});
