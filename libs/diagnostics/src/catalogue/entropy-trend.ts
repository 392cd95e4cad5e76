import { quantileOfSorted } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { leastSquares } from '../least-squares.js';
import { counted, figure, percent } from '../sentences.js';
import { meanOfTokens } from '../token-rows.js';

export interface EntropyPoint {
  readonly trainingStep: number;
  readonly entropy: number;
}

const Thresholds = z.strictObject({
  baselineSteps: z.int().positive().default(5).describe('first steps whose mean entropy is the baseline'),
  trendSteps: z.int().min(2).default(20).describe('last steps that the decay is fitted to'),
  targetEntropy: z.number().positive().default(0.3).describe('nats per token: below it a warning'),
  riseFactor: z.number().min(1).default(2).describe('times the median of the steps before: above it an explosion'),
  spentShare: z.number().min(0).max(1).default(0.9).describe('of the baseline: consumed beyond it is critical'),
});

/** Steps before the present one whose median an explosion is held against, and how many of them it takes. */
const EXPLOSION_WINDOW = 20;
const EXPLOSION_MINIMUM = 5;

/**
 * How fast entropy is spent.
 *
 *     H_0            mean of the first `baselineSteps` entropies
 *     consumed_s     (H_0 − H_s) / H_0
 *     logSlope       least squares of ln H on the training step, over the last `trendSteps` with H > 0
 *     halfLifeSteps  ln 2 / −logSlope; null where entropy does not fall
 *     belowTarget_s  H_s < targetEntropy
 *     explosion_s    H_s > riseFactor · median of the up to 20 steps before, at least 5
 *
 * Source: the gate is STARE's (hp-luo/STARE); the rest ours.
 *
 * @param points in ascending order of the training step; entropies in nats per token
 */
export function entropyTrend(points: readonly EntropyPoint[], options: z.infer<typeof Thresholds>) {
  const { baselineSteps, trendSteps, targetEntropy, riseFactor } = options;
  const entropies = points.map(({ entropy }) => entropy);
  const baseline = mean(entropies.slice(0, baselineSteps));
  const consumed = entropies.map((entropy) => (baseline - entropy) / baseline);
  const last = points.slice(-trendSteps).filter(({ entropy }) => entropy > 0);
  const line = leastSquares(
    last.map(({ trainingStep }) => trainingStep),
    last.map(({ entropy }) => Math.log(entropy)),
  );
  const belowTarget = entropies.map((entropy) => entropy < targetEntropy);
  return {
    baseline,
    consumed,
    consumedNow: consumed.at(-1)!,
    logSlope: line?.slope ?? null,
    halfLifeSteps: line && line.slope < 0 ? Math.LN2 / -line.slope : null,
    belowTarget,
    firstStepBelowTarget: points[belowTarget.indexOf(true)]?.trainingStep ?? null,
    explosion: entropies.map((entropy, i) => {
      const before = Float64Array.from(entropies.slice(Math.max(0, i - EXPLOSION_WINDOW), i)).sort();
      return before.length >= EXPLOSION_MINIMUM && entropy > riseFactor * quantileOfSorted(before, 0.5);
    }),
  };
}

/** Entropy collapse and explosion, from the metric `entropy` or, where it was not recorded, from the tokens. */
export const entropyTrendDiagnostic = defineDiagnostic({
  id: 'entropy-trend',
  version: 1,
  title: 'Entropy over the run',
  question: 'Is the policy running out of entropy, or losing control of it?',
  remedy: 'Too low: STARE, Lp-Reg or KL-Cov, a higher temperature. Too high: a smaller step, a check of the last data.',
  headline: 'entropy',
  level: 'run',
  status: 'own',
  source: 'target: hp-luo/STARE; explosion: RAGEN; baseline and half-life ours',
  requires: [],
  accepts: ['token.entropy', 'token.mask'],
  metrics: ['entropy', 'score'],
  needs: 'the metric entropy, or token.entropy',
  params: z.strictObject({}),
  thresholds: Thresholds,

  measure({ metrics, trajectories }) {
    const { entropy = meanOfTokens(trajectories, 'entropy'), score } = metrics;
    return Number.isFinite(entropy) ? { entropy, score: score ?? null } : null;
  },

  read(steps, thresholds) {
    const points = steps.map(({ trainingStep, figures: { entropy } }) => ({ trainingStep, entropy }));
    const trend = entropyTrend(points, thresholds);
    const { baseline, consumedNow, halfLifeSteps, firstStepBelowTarget } = trend;
    const now = points.at(-1)!.entropy;
    return {
      values: { entropy: now, baseline, consumedNow, logSlope: trend.logSlope, halfLifeSteps, firstStepBelowTarget },
      reasons: {
        ...(halfLifeSteps === null && { halfLifeSteps: 'entropy does not fall' }),
        ...(trend.logSlope === null && { logSlope: 'needs 2 training steps' }),
        ...(firstStepBelowTarget === null && { firstStepBelowTarget: `never below ${thresholds.targetEntropy}` }),
      },
      sentence: sentenceOf(baseline, now, consumedNow, halfLifeSteps),
      steps: points.map(({ trainingStep, entropy }, i) => ({
        trainingStep,
        values: {
          entropy,
          consumed: trend.consumed[i],
          scoreSlope: scoreSlope(steps.slice(Math.max(0, i + 1 - thresholds.trendSteps), i + 1)),
          explosion: trend.explosion[i] ? 1 : 0,
        },
        observations: i + 1,
      })),
      evidence: points
        .filter((_, i) => trend.explosion[i] || points[i].trainingStep === firstStepBelowTarget)
        .slice(0, MAX_EVIDENCE)
        .map(({ trainingStep, entropy }) => ({ trainingStep, note: `entropy ${figure(entropy)}` })),
    };
  },

  rules: ({ targetEntropy, spentShare, riseFactor }) => [
    {
      id: 'explosion',
      level: 'critical',
      all: [{ value: 'explosion', op: '>=', limit: 1 }],
      minimum: EXPLOSION_MINIMUM,
      hold: { of: 1 },
      says: `entropy rose to more than ${riseFactor} times the median of the steps before`,
    },
    {
      id: 'spent',
      level: 'critical',
      all: [
        { value: 'consumed', op: '>', limit: spentShare },
        { value: 'scoreSlope', op: '<=', limit: 0 },
      ],
      minimum: 2,
      says: `more than ${percent(spentShare)} of the entropy is spent and the score does not rise`,
    },
    {
      id: 'below-target',
      level: 'warn',
      all: [{ value: 'entropy', op: '<', limit: targetEntropy }],
      minimum: 1,
      says: `entropy is below ${targetEntropy} nats per token`,
    },
  ],
});

function sentenceOf(baseline: number, now: number, consumed: number, halfLife: number | null): string {
  const from = `entropy went from ${figure(baseline)} to ${figure(now)} nats per token`;
  if (consumed <= 0) return `${from}: nothing of it is spent`;
  const pace = halfLife === null ? 'and does not fall now' : `and halves every ${counted(halfLife, 'step')} now`;
  return `${from}: ${percent(consumed)} is spent, ${pace}`;
}

function scoreSlope(steps: readonly Measured<{ readonly score: number | null }>[]): number | null {
  const scored = steps.filter(({ figures }) => figures.score !== null);
  const line = leastSquares(
    scored.map(({ trainingStep }) => trainingStep),
    scored.map(({ figures }) => figures.score!),
  );
  return line?.slope ?? null;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
