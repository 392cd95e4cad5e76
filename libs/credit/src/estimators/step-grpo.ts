import { ownerOf, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';

const StepGrpoParams = z.strictObject({
  querySimilarityWeight: z.number().default(0.5).describe("a search's share for asking like the reference"),
  routeWeight: z
    .number()
    .default(0.5)
    .describe("a search's share for choosing the reference's retriever, and it alone"),
  shortAnswerMaxWords: z
    .int()
    .nonnegative()
    .default(5)
    .describe('a single reference answer with more words is paid by its recall, any other only whole'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a turn alone in its state keeps its reward ('raw', as the reference) or gets 0 ('zero')"),
});
type Params = z.infer<typeof StepGrpoParams>;

const RETRIEVERS = new Set(['text retriever', 'text image retriever', 'table retriever', 'none']);

/** 0 where a name is unknown or `none` is not alone; else weighted similarity, and the route if it is the reference's. */
export function searchReward(printed: string, reference: string, similarity: number, params: Params): number {
  const names = printed.toLowerCase().split(',').map((name) => name.trim()); // prettier-ignore
  if (names.some((name) => !RETRIEVERS.has(name)) || (names.includes('none') && names.length > 1)) return 0;
  const isRoute = names.length === 1 && names[0] === reference;
  return params.querySimilarityWeight * similarity + (isRoute ? params.routeWeight : 0);
}

/** The recall itself for one long reference answer; else 1 where all of some reference was said, and 0. */
export function answerReward(recall: number, references: string, params: Params): number {
  const isLong = !references.includes('|') && references.split(' ').length > params.shortAnswerMaxWords;
  if (isLong) return recall;
  return recall === 1 ? 1 : 0;
}

/**
 * Step-GRPO of R1-Router: every step is a prompt of its own, and its responses are compared among themselves.
 *
 *     r[t] by searchReward or answerReward; 0 where a tag is missing
 *     A[t] = (r[t] − mean) / (std + ε) over the turns of the group with this state      ddof = 1; one alone: r / (1 + ε)
 */
export const stepGrpo = defineEstimator({
  id: 'step-grpo',
  version: 1,
  title: 'Step-GRPO (R1-Router)',
  citation: {
    paper: 'arXiv:2505.22095',
    code: 'OpenBMB/R1-Router:Easy-R1/verl/utils/reward_score/step.py@c0a0c1b',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.state', 'turn.actionType', 'turn.formatOk'],
  accepts: [],
  conditional: [
    {
      when: {},
      where: { signal: 'turn.actionType', is: 'search' },
      requires: ['turn.querySimilarity', 'turn.retriever', 'turn.groundTruthRetriever'],
    },
    {
      when: {},
      where: { signal: 'turn.actionType', is: 'answer' },
      requires: ['turn.answerRecall', 'turn.groundTruthAnswers'],
    },
  ],
  kinds: {
    'turn.actionType': z.enum(['search', 'answer']),
    'turn.retriever': 'text',
    'turn.groundTruthRetriever': 'text',
    'turn.groundTruthAnswers': 'text',
  },
  params: StepGrpoParams,
  estimate({ turnOffsets, groupOf, stateKey }, columns, params) {
    const { 'turn.actionType': actionType, 'turn.formatOk': formatOk } = columns;
    const rewards = Float64Array.from(formatOk, (isOk, t) => {
      if (isOk === 0) return 0;
      if (actionType[t] === 'answer') {
        return answerReward(columns['turn.answerRecall'][t], columns['turn.groundTruthAnswers'][t]!, params);
      }
      const { 'turn.retriever': printed, 'turn.groundTruthRetriever': reference } = columns;
      return searchReward(printed[t]!, reference[t]!, columns['turn.querySimilarity'][t], params);
    });
    const steps = pairLabels(
      ownerOf(turnOffsets).map((i) => groupOf[i]),
      stateKey,
    );
    const level = 'turn';
    const values = standardScores(rewards, steps.labels, steps.count, params);
    return { level, values, explain: { turnReward: { level, values: rewards } } };
  },
});
