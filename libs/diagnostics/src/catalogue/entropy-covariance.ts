import { numbers, type NumericValues } from '#lib/dataset';
import { selectPair } from '#lib/numeric';
import { z } from 'zod';
import { entropyHalfLives } from '../entropy-pace.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { CREDIT_SIGNALS, creditNote, tokenCredit } from '../token-credit.js';
import { meanOfTokens } from '../token-rows.js';

/** Token columns of one training step. */
export interface CreditedTokens {
  /** [tokens] advantage; NaN: none */
  readonly credit: NumericValues;
  /** [tokens] under the policy that is updated, nats */
  readonly logprob: NumericValues;
  /** [tokens] null: all 1 */
  readonly mask: NumericValues | null;
}

export interface CovarianceOptions {
  /** the band that Clip-Cov takes its tokens from: low < c < high */
  readonly clipCovLow: number;
  readonly clipCovHigh: number;
  /** of the tokens, in percent: the largest c, which KL-Cov penalises */
  readonly klCovPercent: number;
}

/**
 * Whether the coming update eats entropy, and how few tokens do it. To first order entropy falls where the advantage of
 * a token goes with its log-probability ℓ.
 *
 *     c_k = (A_k − Ā)(ℓ_k − ℓ̄)              over all generated tokens of the training step
 *     covariance = mean c,  correlation = c̄ / (σ_A σ_ℓ)
 *     band       tokens with clipCovLow < c < clipCovHigh
 *     top        the max(1, ⌊N · klCovPercent / 100⌋) largest c: their mean, and their part of Σ max(c, 0)
 *
 * klCovPercent 0.2 means 0.2 percent, as in the reference, whose statistics are per micro-batch.
 *
 * Source: arXiv:2505.22617, PRIME-RL/Entropy-Mechanism-of-RL verl/trainer/ppo/core_algos.py.
 */
export function entropyCovariance({ credit, logprob, mask }: CreditedTokens, options: CovarianceOptions) {
  const { clipCovLow, clipCovHigh, klCovPercent } = options;
  const covariances = new Float64Array(credit.length);
  let n = 0;
  let sumA = 0;
  let sumL = 0;
  for (let k = 0; k < credit.length; k++) {
    if (isLeftOut(credit[k], logprob[k], mask, k)) continue;
    n++;
    sumA += credit[k];
    sumL += logprob[k];
  }
  const [meanA, meanL] = [sumA / n, sumL / n];
  let at = 0;
  let total = 0;
  let squaresA = 0;
  let squaresL = 0;
  let positive = 0;
  let positiveSum = 0;
  let band = 0;
  for (let k = 0; k < credit.length; k++) {
    if (isLeftOut(credit[k], logprob[k], mask, k)) continue;
    const a = credit[k] - meanA;
    const l = logprob[k] - meanL;
    const c = a * l;
    covariances[at++] = c;
    total += c;
    squaresA += a * a;
    squaresL += l * l;
    if (c > 0) {
      positive++;
      positiveSum += c;
    }
    if (c > clipCovLow && c < clipCovHigh) band++;
  }
  const tokenCovariance = covariances.subarray(0, n);
  const topCount = n === 0 ? 0 : Math.max(1, Math.floor((n * klCovPercent) / 100));
  const top = sumOfLargest(tokenCovariance, topCount);
  const spread = Math.sqrt(squaresA * squaresL);
  return {
    tokenCount: n,
    covariance: n === 0 ? null : total / n,
    correlation: spread > 0 ? total / spread : null,
    positiveShare: n === 0 ? null : positive / n,
    bandCount: band,
    bandShare: n === 0 ? null : band / n,
    topCount,
    topMean: n === 0 ? null : top / topCount,
    topShareOfPositive: positiveSum > 0 ? top / positiveSum : null,
    tokenCovariance,
  };
}

function isLeftOut(credit: number, logprob: number, mask: NumericValues | null, k: number): boolean {
  return (mask !== null && mask[k] === 0) || credit !== credit || logprob !== logprob;
}

function sumOfLargest(values: Float64Array, count: number): number {
  if (count === 0) return 0;
  const [least] = selectPair(values, values.length - count);
  let sum = 0;
  let above = 0;
  for (let i = 0; i < values.length; i++) {
    if (values[i] <= least) continue;
    sum += values[i];
    above++;
  }
  return sum + (count - above) * least;
}

/** Steps in a row in which the covariance has to be positive. */
const STEPS = 20;

export const entropyCovarianceDiagnostic = stepwise({
  id: 'entropy-covariance',
  version: 1,
  title: 'Updates that eat entropy',
  question: 'Are the coming updates going to eat entropy, and how few tokens do it?',
  remedy: 'Clip or penalise the tokens of largest covariance (Clip-Cov, KL-Cov), or raise the temperature.',
  headline: 'covariance',
  level: 'trainingStep',
  status: 'verified',
  source: 'arXiv:2505.22617, PRIME-RL/Entropy-Mechanism-of-RL core_algos.py; the alert is ours',
  requires: ['token.logprob'],
  accepts: [...CREDIT_SIGNALS, 'token.updatedLogprob', 'token.entropy', 'token.mask'],
  metrics: ['entropy'],
  needs: 'tokens with an advantage: loggedAdvantage, or outcomes',
  params: z.strictObject({
    clipCovLow: z.number().default(1).describe('lower bound of the band of Clip-Cov'),
    clipCovHigh: z.number().default(5).describe('upper bound of the band of Clip-Cov'),
    klCovPercent: z.number().gt(0).max(100).default(0.2).describe('of the tokens, in percent: the largest'),
  }),
  thresholds: z.strictObject({
    halfLife: z.number().positive().default(100).describe('training steps: entropy that halves sooner falls fast'),
  }),

  measure({ trajectories, metrics }, params) {
    const credit = tokenCredit(trajectories);
    if (!credit) return null;
    const logprob = numbers(trajectories, 'token.updatedLogprob') ?? numbers(trajectories, 'token.logprob')!;
    const tokens = { credit: credit.values, logprob, mask: numbers(trajectories, 'token.mask') };
    const { tokenCovariance: _, tokenCount, bandCount: _band, topCount: _top, ...values } = entropyCovariance(tokens, params); // prettier-ignore
    if (tokenCount === 0) return null;
    const { entropy = meanOfTokens(trajectories, 'entropy') } = metrics;
    return {
      values: {
        ...values,
        creditIsLogged: credit.isLogged ? 1 : 0,
        entropy: Number.isFinite(entropy) ? entropy : null,
      },
      reasons: {
        correlation: 'the advantages or the log-probabilities are all equal',
        topShareOfPositive: 'no token has a positive covariance',
        entropy: 'neither the metric nor that of tokens was recorded',
      },
      observations: tokenCount,
    };
  },

  inContext: (steps, { halfLife }) =>
    entropyHalfLives(steps).map((steps) => ({ entropyFallsFast: steps === null ? null : Number(steps < halfLife) })),

  sentence: ({ covariance, bandShare, topShareOfPositive, creditIsLogged }) =>
    `the covariance of advantage and log-probability is ${figure(covariance ?? 0)}, which ${(covariance ?? 0) > 0 ? 'lowers' : 'does not lower'} entropy; ${percent(bandShare ?? 0)} of the tokens lie in the band, the largest hold ${percent(topShareOfPositive ?? 0)}${creditNote(creditIsLogged)}`,

  rules: ({ halfLife }) => [
    {
      id: 'eats-entropy',
      level: 'warn',
      all: [
        { value: 'covariance', op: '>', limit: 0 },
        { value: 'entropyFallsFast', op: '>=', limit: 1 },
      ],
      hold: { of: STEPS, within: STEPS },
      says: `${STEPS} training steps in a row the updates ate entropy, and it halves within ${halfLife}`,
    },
  ],
});
