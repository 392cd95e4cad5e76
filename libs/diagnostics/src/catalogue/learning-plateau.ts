import { quantileOfSorted } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { successRate } from '../groups.js';
import { oncePerWindow } from '../once-per-window.js';
import { counted, figure } from '../sentences.js';

export interface ScorePoint {
  readonly trainingStep: number;
  readonly score: number;
}

const Thresholds = z.strictObject({
  window: z.int().min(3).default(30).describe('last training steps that are looked at'),
  alpha: z.number().gt(0).lt(1).default(0.05).describe('of the Mann-Kendall test: a trend is significant below it'),
  minimalGain: z.number().positive().default(0.02).describe('score over the window: less is no gain'),
});

/**
 * Whether a score still rises, over its last `window` points.
 *
 *     theilSenSlope           median of (y_j − y_i) / (x_j − x_i) over all pairs
 *     expectedGainOverWindow  slope · (x_last − x_first)
 *     S = Σ_(i<j) sgn(y_j − y_i),  v = (n(n−1)(2n+5) − Σ_ties t(t−1)(2t+5)) / 18
 *     z = (S − sgn S) / √v,  p = erfc(|z| / √2)
 *     plateau                 p > alpha and |expected gain| < minimalGain
 *
 * The p-value takes points for independent; where tasks overlap between steps it is optimistic.
 *
 * Source: Theil and Sen; Mann and Kendall; the rule is ours.
 *
 * @param points in ascending order of the training step
 */
export function learningPlateau(points: readonly ScorePoint[], options: z.infer<typeof Thresholds>) {
  const last = points.slice(-options.window);
  const slopes: number[] = [];
  let s = 0;
  for (let i = 0; i < last.length; i++) {
    for (let j = i + 1; j < last.length; j++) {
      slopes.push((last[j].score - last[i].score) / (last[j].trainingStep - last[i].trainingStep));
      s += Math.sign(last[j].score - last[i].score);
    }
  }
  if (slopes.length === 0) return null;
  const slope = quantileOfSorted(Float64Array.from(slopes).sort(), 0.5);
  const gain = slope * (last.at(-1)!.trainingStep - last[0].trainingStep);
  const spread = Math.sqrt(varianceOfS(last.map(({ score }) => score)));
  const z = spread > 0 ? (s - Math.sign(s)) / spread : 0;
  const p = erfc(Math.abs(z) / Math.SQRT2);
  return {
    theilSenSlope: slope,
    expectedGainOverWindow: gain,
    mannKendallS: s,
    mannKendallZ: z,
    mannKendallP: p,
    plateau: p > options.alpha && Math.abs(gain) < options.minimalGain,
  };
}

function varianceOfS(scores: readonly number[]): number {
  const n = scores.length;
  const ties = Map.groupBy(scores, (score) => score).values();
  const term = (t: number) => t * (t - 1) * (2 * t + 5);
  return (term(n) - [...ties].reduce((sum, same) => sum + term(same.length), 0)) / 18;
}

/**
 * The complementary error function for x ≥ 0, to 1e-15 of its value: its series near 0, its continued fraction beyond.
 *
 * Source: Abramowitz and Stegun 7.1.6 and 7.1.14.
 */
export function erfc(x: number): number {
  if (x < 2) {
    let [term, sum] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let k = 120; k >= 1; k--) fraction = k / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

const pointsOf = (steps: readonly Measured<{ readonly score: number }>[]) =>
  steps.map(({ trainingStep, figures: { score } }) => ({ trainingStep, score }));

const plateauOf = oncePerWindow(
  (steps: Parameters<typeof pointsOf>[0], window: number, alpha: number, minimalGain: number) =>
    learningPlateau(pointsOf(steps), { window, alpha, minimalGain }),
);

/** Least steps of which a plateau can be said. */
const LEAST = 10;
const SATURATED = 0.95;

export const learningPlateauDiagnostic = defineDiagnostic({
  id: 'learning-plateau',
  version: 1,
  title: 'Does the score still rise?',
  question: 'Has learning come to a halt?',
  remedy:
    'Look at the other alerts for the cause: groups without a signal, entropy spent, updates too noisy or too small.',
  headline: 'expectedGainOverWindow',
  level: 'run',
  status: 'own',
  source: 'Theil-Sen slope, Mann-Kendall test; the rule ours',
  requires: [],
  accepts: ['trajectory.outcomeReward', 'trajectory.success'],
  metrics: ['score'],
  needs: 'the metric score, or outcomes',
  params: z.strictObject({}),
  thresholds: Thresholds,

  measure({ metrics, trajectories }) {
    if (metrics['score'] !== undefined) return { score: metrics['score'], from: 'score' as const };
    const score = successRate(trajectories);
    return score === null ? null : { score, from: 'success' as const };
  },

  read(steps, thresholds) {
    const { window, alpha, minimalGain } = thresholds;
    const points = pointsOf(steps);
    const found = learningPlateau(points, thresholds);
    const { score } = points.at(-1)!;
    const of = steps.at(-1)!.figures.from === 'score' ? 'the score' : 'success';
    const isHalted = found?.plateau === true && points.length >= LEAST;
    return {
      values: {
        score,
        theilSenSlope: found?.theilSenSlope ?? null,
        expectedGainOverWindow: found?.expectedGainOverWindow ?? null,
        mannKendallP: found?.mannKendallP ?? null,
        plateau: found ? Number(isHalted) : null,
      },
      reasons: found
        ? {}
        : {
            theilSenSlope: 'needs 2 training steps',
            expectedGainOverWindow: 'needs 2 training steps',
            mannKendallP: 'needs 2 training steps',
            plateau: 'needs 2 training steps',
          },
      sentence: sentenceOf(of, score, found?.expectedGainOverWindow, Math.min(window, points.length), isHalted),
      steps: points.map(({ trainingStep, score: value }, i) => {
        const last = steps.slice(Math.max(0, i + 1 - window), i + 1);
        const then = i + 1 >= LEAST ? plateauOf(last, window, alpha, minimalGain) : null;
        return {
          trainingStep,
          values: {
            score: value,
            plateau: then ? Number(then.plateau) : null,
            gain: then?.expectedGainOverWindow ?? null,
          },
          observations: i + 1,
        };
      }),
      evidence: [],
    };
  },

  rules: () => [
    {
      id: 'halted',
      level: 'warn',
      all: [
        { value: 'plateau', op: '>=', limit: 1 },
        { value: 'score', op: '<', limit: SATURATED },
      ],
      minimum: LEAST,
      says: 'the score does not rise any more',
    },
  ],
});

function sentenceOf(of: string, score: number, gain: number | undefined, window: number, isHalted: boolean): string {
  const now = `${of} is ${figure(score)}`;
  if (gain === undefined) return `${now}; its trend needs a second training step`;
  const pace = `${gain < 0 ? '' : '+'}${figure(gain)} over the last ${counted(window, 'training step')}`;
  return isHalted ? `${now} and has come to a halt: ${pace}` : `${now}, ${pace}`;
}
