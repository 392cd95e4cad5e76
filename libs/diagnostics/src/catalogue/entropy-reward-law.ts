import { z } from 'zod';
import { defineDiagnostic } from '../diagnostic.js';
import { mean, successRate } from '../groups.js';
import { leastSquares } from '../least-squares.js';
import { figure, percent } from '../sentences.js';
import { meanOfTokens } from '../token-rows.js';

export interface EntropyScore {
  /** nats per token */
  readonly entropy: number;
  readonly score: number;
}

/**
 * The empirical law of runs without entropy control: score is bought with entropy.
 *
 *     R = −a e^H + b                       least squares over the first `fitSteps` points
 *     ceiling = b − a                      R at H = 0
 *     headroom = ceiling − R_last
 *     ceilingShareReached = (R_last − R_0) / (ceiling − R_0)
 *     rmse, r2 over the fitted points; outOfSampleRmse over the others
 *
 * Source: arXiv:2505.22617; PRIME-RL/Entropy-Mechanism-of-RL.
 *
 * @returns null where a line needs more: two different entropies
 */
export function entropyRewardLaw(points: readonly EntropyScore[], fitSteps: number) {
  const x = points.map(({ entropy }) => Math.exp(entropy));
  const scores = points.map(({ score }) => score);
  const line = leastSquares(x.slice(0, fitSteps), scores.slice(0, fitSteps));
  if (!line) return null;
  const [a, b] = [-line.slope, line.intercept];
  const predicted = x.map((value) => b - a * value);
  const squares = predicted.map((value, i) => (scores[i] - value) ** 2);
  const fitted = scores.slice(0, fitSteps);
  const centre = mean(fitted)!;
  const spread = fitted.reduce((sum, score) => sum + (score - centre) ** 2, 0);
  const residual = squares.slice(0, fitSteps).reduce((sum, square) => sum + square, 0);
  const outside = mean(squares.slice(fitSteps));
  const ceiling = b - a;
  const last = scores.at(-1)!;
  return {
    a,
    b,
    r2: spread > 0 ? 1 - residual / spread : null,
    rmse: Math.sqrt(mean(squares.slice(0, fitSteps))!),
    ceiling,
    predicted,
    headroom: ceiling - last,
    outOfSampleRmse: outside === null ? null : Math.sqrt(outside),
    ceilingShareReached: ceiling === scores[0] ? null : (last - scores[0]) / (ceiling - scores[0]),
  };
}

const Thresholds = z.strictObject({
  leastSteps: z.int().min(3).default(15).describe('training steps below which nothing is fitted'),
  leastRange: z.number().min(0).default(0.1).describe('nats that entropy must have moved'),
  leastR2: z.number().min(0).max(1).default(0.9).describe('below it the law does not hold for this run'),
  spent: z.number().min(0).max(1).default(0.95).describe('of the way to the ceiling: beyond it entropy is spent'),
});

/** The fit, or why there is none. */
function fitOf(points: readonly EntropyScore[], { leastSteps, leastRange, leastR2 }: z.infer<typeof Thresholds>) {
  const entropies = points.map(({ entropy }) => entropy);
  const range = Math.max(...entropies) - Math.min(...entropies);
  if (points.length < leastSteps) return `needs ${leastSteps} training steps with entropy and score`;
  if (range < leastRange) return `entropy moved by ${figure(range)} nats only`;
  const law = entropyRewardLaw(points, points.length);
  if (!law || law.r2 === null || law.r2 < leastR2) return `R² is ${figure(law?.r2 ?? 0)}: the law does not hold here`;
  return law.a > 0 ? law : 'the score does not rise as entropy falls';
}

/**
 * What `fitOf` says of a run's points so far, `ceilingShareReached` alone: each point is looked at once.
 *
 * Moments by Welford's updates; of a line R² is S_xy² / (S_xx S_yy).
 */
function shareSoFar({ leastSteps, leastRange, leastR2 }: z.infer<typeof Thresholds>) {
  let n = 0;
  let first = 0;
  let meanX = 0;
  let meanY = 0;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  let [low, high] = [Infinity, -Infinity];
  return ({ entropy, score }: EntropyScore): number | null => {
    if (n++ === 0) first = score;
    [low, high] = [Math.min(low, entropy), Math.max(high, entropy)];
    const [dx, dy] = [Math.exp(entropy) - meanX, score - meanY];
    meanX += dx / n;
    meanY += dy / n;
    xx += dx * (Math.exp(entropy) - meanX);
    xy += dx * (score - meanY);
    yy += dy * (score - meanY);
    if (n < leastSteps || high - low < leastRange || xx === 0 || yy === 0) return null;
    const slope = xy / xx;
    if (slope >= 0 || (xy * xy) / (xx * yy) < leastR2) return null;
    const ceiling = meanY - slope * meanX + slope;
    return ceiling === first ? null : (score - first) / (ceiling - first);
  };
}

export const entropyRewardLawDiagnostic = defineDiagnostic({
  id: 'entropy-reward-law',
  version: 1,
  title: 'What entropy still buys',
  question: 'How much score is left to be bought with entropy?',
  remedy:
    'Where entropy is spent, more steps do not help: control entropy (STARE, Lp-Reg, KL-Cov) or change the tasks.',
  headline: 'ceilingShareReached',
  level: 'run',
  status: 'verified',
  source: 'arXiv:2505.22617 (R = −a e^H + b); limits ours',
  requires: [],
  accepts: ['token.entropy', 'token.mask', 'trajectory.outcomeReward', 'trajectory.success'],
  metrics: ['entropy', 'validationScore', 'score'],
  needs: 'the metric entropy, or token.entropy',
  params: z.strictObject({}),
  thresholds: Thresholds,

  measure({ metrics, trajectories }) {
    const { entropy = meanOfTokens(trajectories, 'entropy'), validationScore, score } = metrics;
    if (!Number.isFinite(entropy)) return null;
    return { entropy, validation: validationScore ?? null, training: score ?? successRate(trajectories) };
  },

  read(steps, thresholds) {
    const isValidated = steps.some(({ figures }) => figures.validation !== null);
    const points = steps.flatMap(({ trainingStep, figures: { entropy, validation, training } }) => {
      const score = isValidated ? validation : training;
      return score === null ? [] : [{ trainingStep, entropy, score }];
    });
    const of = isValidated ? 'the validation score' : 'the training score (no validation score was recorded)';
    const fit = fitOf(points, thresholds);
    const reached = shareSoFar(thresholds);
    const names = ['ceilingShareReached', 'ceiling', 'headroom', 'a', 'b', 'r2', 'rmse'] as const;
    const isFitted = typeof fit !== 'string';
    return {
      values: Object.fromEntries(names.map((name) => [name, isFitted ? fit[name] : null])),
      reasons: isFitted ? {} : Object.fromEntries(names.map((name) => [name, fit])),
      sentence: isFitted
        ? `${of} is ${percent(fit.ceilingShareReached ?? 0)} of the way to its ceiling of ${figure(fit.ceiling)} at entropy 0`
        : `cannot be said of ${of}: ${fit}`,
      steps: points.map(({ trainingStep, entropy, score }, i) => {
        const ceilingShareReached = reached({ entropy, score });
        return { trainingStep, values: { entropy, score, ceilingShareReached }, observations: i + 1 };
      }),
      evidence: [],
    };
  },

  rules: ({ spent, leastSteps }) => [
    {
      id: 'entropy-spent',
      level: 'info',
      all: [{ value: 'ceilingShareReached', op: '>=', limit: spent }],
      minimum: leastSteps,
      says: `the score has come ${percent(spent)} of the way that entropy can buy`,
    },
  ],
});
