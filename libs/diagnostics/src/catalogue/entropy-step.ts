import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { composeOffsets, selectQuantiles } from '#lib/numeric';
import { z } from 'zod';
import { counted, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

export interface EntropyStepOptions {
  /** each 0 … 1 */
  readonly quantiles: readonly number[];
  /** tokens above this quantile count as forks, 0 … 1 */
  readonly forkQuantile: number;
}

/**
 * How the entropy of one training step lies over its tokens; those that the mask leaves out take no part.
 *
 *     tokenMean              mean entropy of the tokens
 *     sequenceMean           mean over trajectories of their own mean
 *     surprisalMean          mean of −logprob: an unbiased stand-in for the entropy of what was sampled at temperature 1
 *     highEntropyThreshold   the forkQuantile of the entropies, with linear interpolation
 *     highEntropyShareOfMass Σ H over tokens with H ≥ threshold / Σ H
 *
 * Source: token mean as TRL and verl; forks after the 80/20 rule of arXiv:2506.01939.
 *
 * @returns null for what no token says; entropies in nats
 */
export function entropyStep(trajectories: TrajectoryBatch, { quantiles, forkQuantile }: EntropyStepOptions) {
  const entropy = numbers(trajectories, 'token.entropy');
  const logprob = numbers(trajectories, 'token.logprob');
  const mask = numbers(trajectories, 'token.mask');
  const offsets = composeOffsets(trajectories.turnOffsets, trajectories.tokenOffsets);
  const kept = new Float64Array(entropy?.length ?? 0);
  const count = { entropies: 0, trajectories: 0, surprisals: 0 };
  const sum = { entropies: 0, means: 0, surprisals: 0 };
  for (let i = 0; i + 1 < offsets.length; i++) {
    const before = count.entropies;
    let inTrajectory = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      if (mask !== null && mask[k] === 0) continue;
      const h = entropy === null ? NaN : entropy[k];
      if (h === h) {
        kept[count.entropies++] = h;
        inTrajectory += h;
      }
      const l = logprob === null ? NaN : logprob[k];
      if (l === l) {
        sum.surprisals -= l;
        count.surprisals++;
      }
    }
    if (count.entropies === before) continue;
    sum.entropies += inTrajectory;
    sum.means += inTrajectory / (count.entropies - before);
    count.trajectories++;
  }
  const values = kept.subarray(0, count.entropies);
  const [threshold, ...wanted] = selectQuantiles(values, [forkQuantile, ...quantiles]);
  let high = 0;
  for (let k = 0; k < values.length; k++) if (values[k] >= threshold) high += values[k];
  return {
    tokenCount: count.entropies,
    tokenMean: ratio(sum.entropies, count.entropies),
    sequenceMean: ratio(sum.means, count.trajectories),
    surprisalMean: ratio(sum.surprisals, count.surprisals),
    surprisalCount: count.surprisals,
    quantiles: wanted.map((value) => (Number.isNaN(value) ? null : value)),
    highEntropyThreshold: values.length > 0 ? threshold : null,
    highEntropyShareOfMass: ratio(high, sum.entropies),
  };
}

const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);

const QUANTILES = [0.5, 0.9, 0.99] as const;
const NOT_SAID = 'the entropy of tokens was not recorded';

export const entropyStepDiagnostic = stepwise({
  id: 'entropy-step',
  version: 1,
  title: 'Entropy over the tokens',
  question: 'How sure is the policy of its tokens, and how few of them hold the choices?',
  remedy:
    'Look at entropy-trend for the direction; where few tokens hold most of it, an update on forks alone is worth a try.',
  headline: 'tokenMean',
  level: 'trainingStep',
  status: 'verified',
  source: 'token mean: trl grpo_trainer.py, verl agg_loss; forks: arXiv:2506.01939',
  requires: [],
  accepts: ['token.entropy', 'token.logprob', 'token.mask'],
  metrics: [],
  needs: 'token.entropy or token.logprob',
  params: z.strictObject({
    forkQuantile: z.number().min(0).lt(1).default(0.8).describe('tokens above this quantile of entropy are forks'),
  }),
  thresholds: z.strictObject({}),

  measure({ trajectories }, { forkQuantile }) {
    const step = entropyStep(trajectories, { quantiles: QUANTILES, forkQuantile });
    const { tokenCount, surprisalCount, quantiles, ...values } = step;
    if (tokenCount === 0 && surprisalCount === 0) return null;
    const [median, p90, p99] = quantiles;
    const absent = Object.keys(values).filter((name) => name !== 'surprisalMean');
    return {
      values: { ...values, median, p90, p99 },
      reasons: {
        ...Object.fromEntries([...absent, 'median', 'p90', 'p99'].map((name) => [name, NOT_SAID])),
        surprisalMean: 'the log-probability of tokens was not recorded',
      },
      observations: Math.max(tokenCount, surprisalCount),
    };
  },

  sentence: ({ tokenMean, surprisalMean, highEntropyShareOfMass }) =>
    tokenMean == null
      ? `${counted(surprisalMean ?? 0, 'nat')} of surprisal per token, which estimates the entropy: none was recorded`
      : `${counted(tokenMean, 'nat')} per token; the forks hold ${percent(highEntropyShareOfMass ?? 0)} of the entropy`,

  rules: () => [],
});
