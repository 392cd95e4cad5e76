import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

const DeepRubricParams = z.strictObject({
  rubricWeight: z.number().default(0.5).describe('weight of the judged criteria'),
  formatWeight: z.number().default(0.15).describe('weight of the format'),
  searchWeight: z.number().default(0.1).describe('weight of the searches before the answer'),
  citationWeight: z.number().default(0.2).describe('weight of the citations'),
  lengthWeight: z.number().default(0.05).describe("weight of the answer's length"),
  scoreScale: z.number().positive().default(4).describe("the judge's highest score of a criterion"),
  searchUpperBound: z.number().positive().default(6).describe('searches beyond this earn no more'),
  lengthUpperBound: z.number().positive().default(3000).describe('tokens of the answer beyond this earn no more'),
  defaultCriterionWeight: z.number().default(1e-4).describe('weight of a criterion that names none'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof DeepRubricParams>;

const Criteria = z.array(z.object({ weight: z.number().nullish(), score: z.number().nullish() }));

/**
 * Weighted share of the criteria that are met.
 *
 *     rub = Σ w_j · clip(score_j / scale, 0, 1) / Σ |w_j|      a score that the judge failed to give is 0; no weight: 0
 */
export function rubricScore(
  criteria: z.infer<typeof Criteria>,
  { scoreScale, defaultCriterionWeight }: Pick<Params, 'scoreScale' | 'defaultCriterionWeight'>,
): number {
  let met = 0;
  let total = 0;
  for (const { weight, score } of criteria) {
    const w = weight ?? defaultCriterionWeight;
    met += w * Math.min(1, Math.max(0, (score ?? 0) / scoreScale));
    total += Math.abs(w);
  }
  return total === 0 ? 0 : met / total;
}

/**
 * DeepRubric: judged criteria from an evidence tree, and small programmatic terms.
 *
 *     fmt = 0.5 [answer] + 0.2 [citation] + 0.1 [any query] + 0.2 [more than one clean think]
 *     sea = min(queries before the answer / 6, 1)      len = min(answer tokens / 3000, 1)
 *     R   = 0.5 rub + 0.15 fmt + 0.1 sea + 0.2 citation + 0.05 len      without an answer 0.15 fmt alone
 *     A   = (R − mean_g R) / (std_g R + ε)                              ddof = 1
 */
export const deepRubric = defineEstimator({
  id: 'deep-rubric',
  version: 1,
  title: 'Evidence-tree rubric reward (DeepRubric)',
  citation: {
    paper: 'arXiv:2606.17029',
    code: 'ZMingHang/DeepRubric-Code:training/verl-tool/verl_tool/workers/reward_manager/longform_rubric.py@29d7222',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: [
    'trajectory.criteria',
    'trajectory.hasAnswer',
    'trajectory.hasCitation',
    'trajectory.validQueries',
    'trajectory.validQueriesBeforeAnswer',
    'trajectory.cleanThinks',
    'trajectory.answerTokens',
    'trajectory.citationScore',
  ],
  accepts: [],
  kinds: { 'trajectory.criteria': Criteria },
  params: DeepRubricParams,
  estimate(trajectories, columns, params) {
    const hasAnswer = columns['trajectory.hasAnswer'];
    const answered = (score: (i: number) => number) =>
      Float64Array.from(hasAnswer, (has, i) => (has === 1 ? score(i) : 0));
    const rubric = answered((i) => rubricScore(columns['trajectory.criteria'][i]!, params));
    const search = answered((i) =>
      Math.min(columns['trajectory.validQueriesBeforeAnswer'][i] / params.searchUpperBound, 1),
    );
    const length = answered((i) => Math.min(columns['trajectory.answerTokens'][i] / params.lengthUpperBound, 1));
    const format = Float64Array.from(hasAnswer, (has, i) => {
      const cites = columns['trajectory.hasCitation'][i];
      const queries = columns['trajectory.validQueries'][i] > 0 ? 1 : 0;
      const thinks = columns['trajectory.cleanThinks'][i] > 1 ? 1 : 0;
      return 0.5 * has + 0.2 * cites + 0.1 * queries + 0.2 * thinks;
    });
    const more = answered((i) => {
      const citation = params.citationWeight * columns['trajectory.citationScore'][i];
      return (
        params.rubricWeight * rubric[i] + params.searchWeight * search[i] + citation + params.lengthWeight * length[i]
      );
    });
    const reward = more.map((earned, i) => params.formatWeight * format[i] + earned);
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        rubricScore: { level, values: rubric },
        formatScore: { level, values: format },
        searchScore: { level, values: search },
        lengthScore: { level, values: length },
        trajectoryReward: { level, values: reward },
      },
    };
  },
});
