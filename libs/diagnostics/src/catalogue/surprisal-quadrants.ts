import { numbers, type NumericValues } from '#lib/dataset';
import { selectPair } from '#lib/numeric';
import { z } from 'zod';
import { entropyHalfLives } from '../entropy-pace.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { CREDIT_SIGNALS, creditNote, tokenCredit } from '../token-credit.js';
import { meanOfTokens } from '../token-rows.js';
import type { CreditedTokens } from './entropy-covariance.js';

/**
 * What the surprising tokens hold of the update. Among tokens with A > 0, and apart from them among those with A < 0, the
 *
 *     k = min(n, max(1, ⌊topRatio · n + 0.999999⌋))
 *
 * of largest surprisal s = −logprob are high. A surprising token that is rewarded raises entropy, one that is punished
 * lowers it; the unsurprising ones do the opposite.
 *
 *     …HighMass       Σ |A| over them / Σ |A| over all tokens
 *     …Threshold      their least surprisal, nats
 *
 * Source: hp-luo/STARE, compute_stare_token_weights (variant C2). Of equal surprisals at the edge the earlier ones count.
 *
 * @param topRatio 0 … 1
 */
export function surprisalQuadrants({ credit, logprob, mask }: CreditedTokens, { topRatio }: { topRatio: number }) {
  const count = { all: 0, positive: 0, negative: 0 };
  let mass = 0;
  const Values = logprob instanceof Float32Array ? Float32Array : Float64Array;
  const [positive, negative] = [new Values(credit.length), new Values(credit.length)];
  for (let k = 0; k < credit.length; k++) {
    const a = credit[k];
    if ((mask !== null && mask[k] === 0) || a !== a || logprob[k] !== logprob[k]) continue;
    count.all++;
    mass += Math.abs(a);
    if (a > 0) positive[count.positive++] = -logprob[k];
    else if (a < 0) negative[count.negative++] = -logprob[k];
  }
  const high = {
    positive: leastHigh(positive.subarray(0, count.positive), topRatio),
    negative: leastHigh(negative.subarray(0, count.negative), topRatio),
  };
  const sum = { positive: 0, negative: 0 };
  const ties = { positive: high.positive.ties, negative: high.negative.ties };
  for (let k = 0; k < credit.length; k++) {
    const a = credit[k];
    const s = -logprob[k];
    if ((mask !== null && mask[k] === 0) || a !== a || s !== s || a === 0) continue;
    const side = a > 0 ? 'positive' : 'negative';
    const { threshold } = high[side];
    if (s > threshold || (s === threshold && ties[side]-- > 0)) sum[side] += Math.abs(a);
  }
  const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);
  return {
    tokenCount: count.all,
    positiveShare: share(count.positive, count.all),
    negativeShare: share(count.negative, count.all),
    positiveHighCount: high.positive.count,
    negativeHighCount: high.negative.count,
    positiveHighMass: share(sum.positive, mass),
    negativeHighMass: share(sum.negative, mass),
    positiveThreshold: count.positive > 0 ? high.positive.threshold : null,
    negativeThreshold: count.negative > 0 ? high.negative.threshold : null,
  };
}

/** The least of the `count` largest, and how many of them are equal to it. */
function leastHigh(surprisals: NumericValues, topRatio: number) {
  const n = surprisals.length;
  if (n === 0) return { count: 0, threshold: Infinity, ties: 0 };
  const count = Math.min(n, Math.max(1, Math.floor(topRatio * n + 0.999999)));
  const [threshold] = selectPair(surprisals, n - count);
  let above = 0;
  for (let i = 0; i < n; i++) above += Number(surprisals[i] > threshold);
  return { count, threshold, ties: count - above };
}

export const surprisalQuadrantsDiagnostic = stepwise({
  id: 'surprisal-quadrants',
  version: 1,
  title: 'Rewarded and punished surprises',
  question: 'Does the update reward surprising tokens, or prune them?',
  remedy: 'Where surprises are punished and entropy falls: weigh them down (STARE C2) or shield them (Lp-Reg).',
  headline: 'negativeHighMass',
  level: 'trainingStep',
  status: 'verified',
  source: 'hp-luo/STARE compute_stare_token_weights; the alert is ours',
  requires: ['token.logprob'],
  accepts: [...CREDIT_SIGNALS, 'token.entropy', 'token.mask'],
  metrics: ['entropy'],
  needs: 'tokens with an advantage: loggedAdvantage, or outcomes',
  params: z.strictObject({
    topRatio: z.number().gt(0).max(1).default(0.1).describe('of the tokens of either sign: the most surprising'),
  }),
  thresholds: z.strictObject({
    pruning: z
      .number()
      .positive()
      .default(2)
      .describe('punished surprises to rewarded ones: above it the tail is pruned'),
  }),

  measure({ trajectories, metrics }, params) {
    const credit = tokenCredit(trajectories);
    if (!credit) return null;
    const logprob = numbers(trajectories, 'token.logprob')!;
    const tokens = { credit: credit.values, logprob, mask: numbers(trajectories, 'token.mask') };
    const { tokenCount, positiveHighCount: _p, negativeHighCount: _n, ...values } = surprisalQuadrants(tokens, params);
    const { positiveHighMass, negativeHighMass } = values;
    if (tokenCount === 0 || positiveHighMass === null || negativeHighMass === null) return null;
    const { entropy = meanOfTokens(trajectories, 'entropy') } = metrics;
    return {
      values: {
        ...values,
        punishedToRewarded: positiveHighMass > 0 ? negativeHighMass / positiveHighMass : null,
        creditIsLogged: credit.isLogged ? 1 : 0,
        entropy: Number.isFinite(entropy) ? entropy : null,
      },
      reasons: {
        positiveThreshold: 'no token is rewarded',
        negativeThreshold: 'no token is punished',
        punishedToRewarded: 'no surprising token is rewarded',
        entropy: 'neither the metric nor that of tokens was recorded',
      },
      observations: tokenCount,
    };
  },

  inContext: (steps) =>
    entropyHalfLives(steps).map((steps) => ({ entropyFalls: steps === null ? null : Number(steps < Infinity) })),

  sentence: ({ positiveHighMass, negativeHighMass, punishedToRewarded, creditIsLogged }) =>
    `surprising tokens hold ${percent(positiveHighMass ?? 0)} of the update where they are rewarded, ${percent(negativeHighMass ?? 0)} where they are punished${punishedToRewarded == null ? '' : `, ${figure(punishedToRewarded)} to one`}${creditNote(creditIsLogged)}`,

  rules: ({ pruning }) => [
    {
      id: 'tail-pruned',
      level: 'info',
      all: [
        { value: 'punishedToRewarded', op: '>', limit: pruning },
        { value: 'entropyFalls', op: '>=', limit: 1 },
      ],
      minimum: 32,
      says: `surprising tokens are punished more than ${figure(pruning)} times as much as rewarded while entropy falls`,
    },
  ],
});
