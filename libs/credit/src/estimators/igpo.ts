import type { NumericValues } from '#lib/dataset';
import { discountedSums, ownerOf, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled } from '../group-scores.js';

const IgpoParams = z.strictObject({
  infoGainType: z
    .enum(['logProbDiff', 'probDiff'])
    .default('logProbDiff')
    .describe("gain in log-probability (paper v2), or in probability ('probDiff', paper v1)"),
  pooling: z
    .enum(['separate', 'joint'])
    .default('separate')
    .describe('statistics of last turns and of other turns apart, or of all turns of the group together'),
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn'),
  normalizeByStd: z.boolean().default(true).describe('divide by the spread of the pool'),
  outcomeWeight: z.number().default(1).describe('factor of the last turns, before any statistic'),
  infoGainWeight: z.number().default(1).describe('factor of the other turns, before any statistic'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread, outside its root'),
});

/** The reference adds it to the variance, inside the root. */
const VARIANCE_EPSILON = 1e-8;

/**
 * What a turn added to the belief in the right answer; the last turn is paid with the outcome.
 *
 *     r[t] = φ(v[t + 1]) − φ(v[t])      φ: the identity, or exp
 *     r[last] = R
 *
 * @param belief [turns] mean log-probability of the right answer BEFORE the turn
 * @param outcome [trajectories]
 * @returns [turns]
 */
export function informationGain(
  belief: NumericValues,
  outcome: NumericValues,
  turnOffsets: Int32Array,
  type: z.infer<typeof IgpoParams>['infoGainType'],
): Float64Array {
  const phi = type === 'probDiff' ? Math.exp : (value: number) => value;
  const gain = new Float64Array(belief.length);
  for (let i = 0; i < outcome.length; i++) {
    const last = turnOffsets[i + 1] - 1;
    for (let t = turnOffsets[i]; t < last; t++) gain[t] = phi(belief[t + 1]) - phi(belief[t]);
    if (last >= turnOffsets[i]) gain[last] = outcome[i];
  }
  return gain;
}

/**
 * IGPO: information gain and outcome, each against its pool in the group, added up backwards.
 *
 *     w[t] = infoGainWeight · r[t], w[last] = outcomeWeight · r[last]
 *     r̃[t] = (w[t] − mean) / (sqrt(var + 1e-8) + ε)      over the pool of t, ddof = 0; a pool of one, or all equal: 0
 *     A[t] = r̃[t] + γ · A[t + 1]
 */
export const igpo = defineEstimator({
  id: 'igpo',
  version: 1,
  title: 'Information gain of turns (IGPO)',
  citation: { paper: 'arXiv:2510.14967', code: 'debajoycs98/IGPO:verl/trainer/ppo/core_algos.py@745078b' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.groundTruthLogprob', 'trajectory.outcomeReward'],
  accepts: [],
  params: IgpoParams,
  estimate({ turnOffsets, groupOf, groupCount }, columns, params) {
    const outcome = columns['trajectory.outcomeReward'];
    const gain = informationGain(columns['turn.groundTruthLogprob'], outcome, turnOffsets, params.infoGainType);
    const trajectoryOf = ownerOf(turnOffsets);
    const isLast = (t: number) => t === turnOffsets[trajectoryOf[t] + 1] - 1;
    const weighted = gain.map((r, t) => r * (isLast(t) ? params.outcomeWeight : params.infoGainWeight));

    const poolOf = trajectoryOf.map((i, t) => {
      return params.pooling === 'separate' ? 2 * groupOf[i] + Number(isLast(t)) : groupOf[i];
    });
    const moments = segmentMoments(weighted, null, poolOf, 2 * groupCount, 0);
    const scores = centred(weighted, poolOf, moments, 'zero');
    if (params.normalizeByStd) {
      const std = moments.std.map((spread) => Math.sqrt(spread ** 2 + VARIANCE_EPSILON));
      scaled(scores, poolOf, { ...moments, std }, params.epsilon);
    }
    const level = 'turn';
    const values = discountedSums(scores, turnOffsets, params.gamma);
    return { level, values, explain: { turnReward: { level, values: gain } } };
  },
});
