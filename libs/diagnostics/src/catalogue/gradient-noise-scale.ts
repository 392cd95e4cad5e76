import { z } from 'zod';
import { defineDiagnostic } from '../diagnostic.js';
import { successRate } from '../groups.js';
import { counted, figure } from '../sentences.js';
import { learningPlateau, type ScorePoint } from './learning-plateau.js';

/** Squared gradient norms of one training step, at two batch sizes in trajectories. */
export interface GradientNorms {
  readonly smallBatch: number;
  readonly largeBatch: number;
  /** mean over the small batches of ‖mean gradient‖² */
  readonly smallSquaredNorm: number;
  /** ‖mean gradient‖² of the whole batch */
  readonly largeSquaredNorm: number;
}

const Thresholds = z.strictObject({
  beta: z.number().min(0).lt(1).default(0.9).describe('of the moving averages: how much of the past is kept'),
  epsilon: z.number().positive().default(1e-8).describe('least signal and least noise'),
  batchShare: z.number().positive().default(0.25).describe('batch over noise scale: less is a warning on a plateau'),
});

/**
 * How large a batch would have to be for signal and noise of its gradient to be equal.
 *
 *     signal = (B g_B − b g_b) / (B − b)        noise = (g_b − g_B) / (1/b − 1/B)
 *     EMA of either from 0: x ← β x + (1 − β) value;  debiased = x / (1 − β^s)
 *     noiseScale = max(noise EMA, ε) / max(signal EMA, ε)
 *
 * A single estimate may be negative: only the averages are to be read. b, B and the scale count trajectories.
 *
 * Source: arXiv:1812.06162, appendix A; crowsonkb/k-diffusion gns.py.
 */
export function gradientNoiseScale(
  steps: readonly GradientNorms[],
  { beta, epsilon }: { readonly beta: number; readonly epsilon: number },
) {
  let [signalEma, noiseEma, left] = [0, 0, 1];
  return steps.map(({ smallBatch, largeBatch, smallSquaredNorm, largeSquaredNorm }) => {
    const signal = (largeBatch * largeSquaredNorm - smallBatch * smallSquaredNorm) / (largeBatch - smallBatch);
    const noise = (smallSquaredNorm - largeSquaredNorm) / (1 / smallBatch - 1 / largeBatch);
    signalEma = beta * signalEma + (1 - beta) * signal;
    noiseEma = beta * noiseEma + (1 - beta) * noise;
    left *= beta;
    const noiseScale = Math.max(noiseEma, epsilon) / Math.max(signalEma, epsilon);
    return {
      signal,
      noise,
      noiseScale,
      debiasedSignal: signalEma / (1 - left),
      debiasedNoise: noiseEma / (1 - left),
      batchOverNoiseScale: largeBatch / noiseScale,
    };
  });
}

interface Figures extends GradientNorms {
  readonly score: number | null;
}

/** Steps before which averages and plateau say nothing. */
const LEAST = 10;
const PLATEAU = { window: 30, alpha: 0.05, minimalGain: 0.02 };

export const gradientNoiseScaleDiagnostic = defineDiagnostic({
  id: 'gradient-noise-scale',
  version: 1,
  title: 'Noise of the gradient',
  question: 'Is the batch large enough for its gradient to point anywhere?',
  remedy:
    'More trajectories per update, or smaller updates; above four times the noise scale a smaller batch would do.',
  headline: 'batchOverNoiseScale',
  level: 'run',
  status: 'verified',
  source: 'arXiv:1812.06162; crowsonkb/k-diffusion gns.py; the factor of four is ours',
  requires: [],
  accepts: ['trajectory.outcomeReward', 'trajectory.success'],
  metrics: ['smallSquaredNorm', 'largeSquaredNorm', 'smallBatch', 'largeBatch', 'score'],
  needs: 'the metrics smallBatch, largeBatch, smallSquaredNorm and largeSquaredNorm',
  params: z.strictObject({}),
  thresholds: Thresholds,

  measure({ metrics, trajectories }): Figures | null {
    const { smallBatch, largeBatch, smallSquaredNorm, largeSquaredNorm } = metrics;
    const norms = { smallBatch, largeBatch, smallSquaredNorm, largeSquaredNorm };
    if (!Object.values(norms).every(Number.isFinite) || !(smallBatch > 0 && largeBatch > smallBatch)) return null;
    return { ...norms, score: metrics['score'] ?? successRate(trajectories) };
  },

  read(steps, thresholds) {
    const scales = gradientNoiseScale(
      steps.map(({ figures }) => figures),
      thresholds,
    );
    const { signal: _signal, noise: _noise, ...now } = scales.at(-1)!;
    const scored: ScorePoint[] = [];
    const { largeBatch } = steps.at(-1)!.figures;
    return {
      values: now,
      reasons: {},
      sentence: `the gradient's signal and noise would be equal at ${counted(now.noiseScale, 'trajectory', 'trajectories')}; the batch has ${figure(largeBatch)}`,
      steps: steps.map(({ trainingStep, figures: { score } }, i) => {
        const { batchOverNoiseScale, noiseScale } = scales[i];
        if (score !== null) scored.push({ trainingStep, score });
        const found = learningPlateau(scored, PLATEAU);
        return {
          trainingStep,
          values: { batchOverNoiseScale, noiseScale, plateau: found ? Number(found.plateau) : null },
          observations: i + 1,
        };
      }),
      evidence: [],
    };
  },

  rules: ({ batchShare }) => [
    {
      id: 'noise-dominated',
      level: 'warn',
      all: [
        { value: 'batchOverNoiseScale', op: '<', limit: batchShare },
        { value: 'plateau', op: '>=', limit: 1 },
      ],
      minimum: LEAST,
      says: `the batch is smaller than ${figure(batchShare)} of the noise scale and the score stands still`,
    },
  ],
});
