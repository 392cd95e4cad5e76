import { discountedSums, rowSums, textSimilarity } from '#lib/numeric';
import { z } from 'zod';
import { episodeAdvantage } from '../episode-advantage.js';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS } from '../group-advantage.js';
import { equalStates } from '../state-groups.js';
import { stepAdvantage } from './gigpo.js';

const RoleAgentWiaParams = z.strictObject({
  bonusWeight: z.number().default(0.2).describe('how much a perfect prediction enlarges its reward'),
  maxChars: z.int().nonnegative().default(0).describe('both texts are cut to this length before comparing; 0: never'),
  maxUntruncatedChars: z
    .int()
    .nonnegative()
    .default(8192)
    .describe('without cutting, a longer observation leaves its turn unshaped'),
  gamma: z.number().min(0).max(1).default(0.95).describe('discount per turn'),
  stepAdvantageWeight: z.number().default(1).describe('weight of the step part added to the episode part'),
  ...GROUP_PARAMS,
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("episode part of a group of one turn: its score ('raw', as verl-agent) or 0 ('zero')"),
});
type Params = z.infer<typeof RoleAgentWiaParams>;

/**
 * How well a turn's prediction fits the observation that followed: difflib's ratio of prediction and observation.
 *
 * @returns NaN: the turn is left unshaped (no prediction, nothing observed, or too much of it); 0: an empty prediction
 */
export function predictionSimilarity(
  predicted: string | null,
  actual: string,
  { maxChars, maxUntruncatedChars }: Pick<Params, 'maxChars' | 'maxUntruncatedChars'>,
): number {
  if (predicted === null || actual === '') return NaN;
  if (maxChars === 0 && characters(actual) > maxUntruncatedChars) return NaN;
  if (predicted === '') return 0;
  return textSimilarity(cut(predicted, maxChars), cut(actual, maxChars));
}

/** Of code points, as Python counts them. */
const characters = (text: string) => (text.length <= 1 ? text.length : Array.from(text).length);
const cut = (text: string, most: number) => (most > 0 ? Array.from(text).slice(0, most).join('') : text);

/**
 * World-In-Agent of Role-Agent: GiGPO on rewards that a good prediction of the next observation enlarges.
 *
 *     r'[i,t] = r[i,t] · (1 + bonusWeight · sim[i,t])      sim: predictionSimilarity; unshaped turns keep r
 *     E[i,t] from R'[i] = Σ_t r'[i,t] over the turns of the group      (episodeAdvantage)
 *     S[i,t] from G[i,t] = r'[i,t] + γ · G[i,t+1] over equal states    (stepAdvantage of gigpo)
 *     A[i,t] = E[i,t] + stepAdvantageWeight · S[i,t]
 */
export const roleAgentWia = defineEstimator({
  id: 'role-agent-wia',
  version: 1,
  title: 'Rewards scaled by predicted observations (Role-Agent)',
  citation: { paper: 'arXiv:2606.10917', code: 'AMAP-ML/roleagent:role_agent/wia_utils.py@0ceb695' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.reward', 'turn.state', 'turn.actualNextState'],
  accepts: ['turn.predictedNextState'],
  kinds: { 'turn.actualNextState': 'text', 'turn.predictedNextState': 'text' },
  params: RoleAgentWiaParams,
  estimate(trajectories, columns, params) {
    const { 'turn.reward': recorded, 'turn.actualNextState': actual, 'turn.predictedNextState': predicted } = columns;
    const similarity = Float64Array.from(recorded, (_, t) =>
      predictionSimilarity(predicted?.[t] ?? null, actual[t]!, params),
    );
    const reward = similarity.map((sim, t) => recorded[t] * (Number.isNaN(sim) ? 1 : 1 + params.bonusWeight * sim));
    const turnReturn = discountedSums(reward, trajectories.turnOffsets, params.gamma);

    const noPenalty = new Float64Array(reward.length);
    const across = { ...params, statsAcross: 'turns' } as const;
    const episode = episodeAdvantage(rowSums(reward, trajectories.turnOffsets), noPenalty, trajectories, across);
    const step = stepAdvantage(turnReturn, equalStates(trajectories), params);
    const level = 'turn';
    return {
      level,
      values: episode.map((value, t) => value + params.stepAdvantageWeight * step[t]),
      explain: {
        similarity: { level, values: similarity },
        turnReward: { level, values: reward },
        turnReturn: { level, values: turnReturn },
        episodeAdvantage: { level, values: episode },
        stepAdvantage: { level, values: step },
      },
    };
  },
});
