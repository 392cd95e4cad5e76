import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, lastOfRows, ownerOf, rowMeans, rowSums, segmentMoments, whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { unansweredGroupsOfOne } from '../groups-of-one.js';
import { negativeLogSigmoid } from '../implicit-reward.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { notWhitened } from '../not-whitened.js';

const PrimeRlooParams = z.strictObject({
  variant: z.enum(['prime', 'verlRecipe']).default('prime').describe("the authors' code, or verl's later recipe"),
  groupSize: z
    .int()
    .positive()
    .default(4)
    .describe('rollouts per prompt: groups of another size are compared by their own size, with a warning'),
  granularity: z
    .enum(['token', 'trajectory'])
    .default('token')
    .describe('prime: the process reward stands on each token, or whole on the last'),
  processNormalization: z
    .enum(['batchNorm', 'none'])
    .default('batchNorm')
    .describe('divide by the largest process return of the batch, or not'),
  beta: z
    .number()
    .nonnegative()
    .default(0.05)
    .describe('inverse temperature: of prmLoss, and in verlRecipe of the process reward'),
  processGamma: z.number().min(0).max(1).default(1).describe('prime: discount of the process part, per token'),
  outcomeGamma: z.number().min(0).max(1).default(1).describe('prime: discount of the outcome part, per token'),
  processWeight: z.number().default(5).describe('verlRecipe: weight of the process part'),
  outcomeWeight: z.number().default(5).describe('verlRecipe: weight of the outcome part'),
});
type Params = z.infer<typeof PrimeRlooParams>;

const MAX_EPSILON = 1e-6;
const WHITEN_EPSILON = 1e-8;

/** The generated tokens of each trajectory, one after the other. */
interface Tokens {
  readonly offsets: Int32Array;
  readonly mask: NumericValues | null;
  /** [trajectories] row of the last one; -1: none */
  readonly last: Int32Array;
}

/** [tokens] x: the log ratio of process reward model and reference, placed and scaled as the variant has it. */
function processReward(ratio: Float64Array, { offsets, mask, last }: Tokens, params: Params): Float64Array {
  const { variant, granularity, processNormalization, beta } = params;
  const x = ratio.map((q) => (variant === 'prime' ? q : beta * q));
  if (variant === 'verlRecipe') for (const k of last) if (k >= 0) x[k] = 0;
  if (variant === 'prime' && granularity === 'trajectory') {
    const sums = rowSums(x, offsets);
    x.fill(0);
    last.forEach((k, i) => {
      if (k >= 0) x[k] = sums[i];
    });
  }
  if (processNormalization === 'none') return x;
  const largest = discountedSums(x, offsets, 1, mask).reduce((max, sum) => Math.max(max, Math.abs(sum)), 0);
  return x.map((value) => value / (largest + MAX_EPSILON));
}

/**
 * Each token's reward and each outcome against the group of n, itself left out; 0 in a group of one.
 *
 *     y[k] = x[k] · n / (n − 1) − Σ_j mean_k x[j] / (n − 1)      trajectories j of the group, means over tokens
 *     o[i] = (R[i] − mean R) · n / (n − 1)                       on the last token
 */
function leaveOneOut(
  x: Float64Array,
  outcome: NumericValues,
  { offsets, mask, last }: Tokens,
  { groupOf, groupCount }: TrajectoryBatch,
) {
  const { weight, mean, std } = segmentMoments(outcome, null, groupOf, groupCount);
  const process = new Float64Array(groupCount);
  rowMeans(x, offsets, mask).forEach((m, i) => (process[groupOf[i]] += Number.isNaN(m) ? 0 : m));
  const trajectoryOf = ownerOf(offsets);
  const y = x.map((value, k) => {
    const g = groupOf[trajectoryOf[k]];
    if (weight[g] === 1 || mask?.[k] === 0) return 0;
    return (value * weight[g] - process[g]) / (weight[g] - 1);
  });
  const o = new Float64Array(x.length);
  last.forEach((k, i) => {
    const g = groupOf[i];
    if (k >= 0 && weight[g] > 1 && std[g] !== 0) o[k] = ((outcome[i] - mean[g]) * weight[g]) / (weight[g] - 1);
  });
  return { y, o };
}

/** Mean over the trajectories of the cross entropy of σ(β Σ q) and the outcome. */
function prmLoss(ratio: Float64Array, outcome: NumericValues, offsets: Int32Array, beta: number): number {
  const losses = rowSums(ratio, offsets).map((sum, i) => {
    const z = beta * sum;
    return outcome[i] * negativeLogSigmoid(z) + (1 - outcome[i]) * negativeLogSigmoid(-z);
  });
  return losses.length === 0 ? 0 : losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}

/**
 * PRIME: the reward of a token is how much likelier an implicit process reward model finds it than the reference;
 * process and outcome are each compared with the rest of the group, summed to the end and standardised over the batch.
 *
 *     x[k] = prmLogprob − refLogprob;   batchNorm: x / (max |reverse sums of x| + 1e-6)
 *     return[k] = Σ from k on of γ_p^… y + Σ γ_o^… o      prime;    of processWeight · y + outcomeWeight · o   verlRecipe
 *     A = whiten(return) over all generated tokens of the batch, ddof = 1
 *
 * verlRecipe: x = β (prmLogprob − refLogprob), 0 on the last token.
 */
export const primeRloo = defineEstimator({
  id: 'prime-rloo',
  version: 1,
  title: 'Implicit process rewards, leave-one-out (PRIME)',
  citation: {
    code: 'PRIME-RL/PRIME:training/verl/trainer/ppo/core_algos.py@18ad596',
    work: 'Process Reinforcement through Implicit Rewards, 2025',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.prmLogprob', 'token.refLogprob'],
  accepts: ['token.mask'],
  params: PrimeRlooParams,
  estimate(trajectories, columns, params) {
    const { 'token.prmLogprob': prm, 'token.refLogprob': ref, 'trajectory.outcomeReward': outcome } = columns;
    const mask = columns['token.mask'] ?? null;
    const offsets = rowsOfTrajectories(trajectories, 'token');
    const tokens = { offsets, mask, last: lastOfRows(offsets, mask) };
    const ratio = Float64Array.from(prm, (l, k) => (mask?.[k] === 0 ? 0 : l - ref[k]));
    const x = processReward(ratio, tokens, params);
    const { y, o } = leaveOneOut(x, outcome, tokens, trajectories);

    const sums = (values: Float64Array, gamma: number) => discountedSums(values, offsets, gamma, mask);
    const isPrime = params.variant === 'prime';
    const process = sums(y, isPrime ? params.processGamma : 1);
    const outcomes = sums(o, isPrime ? params.outcomeGamma : 1);
    const [wp, wo] = isPrime ? [1, 1] : [params.processWeight, params.outcomeWeight];
    const tokenReturn = process.map((p, k) => wp * p + wo * outcomes[k]);
    const { values, count } = whiten(tokenReturn, mask, WHITEN_EPSILON);
    const level = 'token';
    return {
      level,
      values,
      explain: {
        tokenProcessReward: { level, values: x },
        tokenReturn: { level, values: tokenReturn },
        prmLoss: { level: 'shard', values: Float64Array.of(prmLoss(ratio, outcome, offsets, params.beta)) },
      },
      warnings: [
        ...unansweredGroupsOfOne(trajectories),
        ...otherSizes(trajectories, params.groupSize),
        ...notWhitened(count, 'tokens'),
      ],
    };
  },
});

function otherSizes({ groupOf, groupCount }: TrajectoryBatch, groupSize: number): string[] {
  const sizes = new Int32Array(groupCount);
  for (const g of groupOf) sizes[g]++;
  const others = sizes.filter((size) => size !== groupSize).length;
  return others > 0 ? [`groups of another size than groupSize ${groupSize}: ${others} of ${groupCount}`] : [];
}
