import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { gradientNoiseScale, gradientNoiseScaleDiagnostic } from './gradient-noise-scale.js';

const NORMS = { smallBatch: 8, largeBatch: 64, smallSquaredNorm: 1.5, largeSquaredNorm: 0.6 };

it('gives the example of the method', () => {
  const [step] = gradientNoiseScale([NORMS], { beta: 0.9, epsilon: 1e-8 });
  expect(step.signal).toBeCloseTo(0.4714, 4);
  expect(step.noise).toBeCloseTo(8.2286, 4);
  expect(step.noiseScale).toBeCloseTo(17.45, 2);
  expect(step.batchOverNoiseScale).toBeCloseTo(3.67, 2);
  expect(step.debiasedSignal).toBeCloseTo(step.signal, 12);
});

it('keeps the scale finite where an estimate is negative', () => {
  const [step] = gradientNoiseScale([{ ...NORMS, largeSquaredNorm: 0.1 }], { beta: 0.9, epsilon: 0.01 });
  expect(step.signal).toBeLessThan(0);
  expect(step.noiseScale).toBeCloseTo((0.1 * 1.4 * 8 * 64) / 56 / 0.01, 9);
});

// signal 0.01, noise 1000 · 0.01: a noise scale far beyond 64
const noisy = { smallBatch: 8, largeBatch: 64, smallSquaredNorm: 2, largeSquaredNorm: 0.26 };
const rules = (norms: typeof NORMS, scoreOf: (step: number) => number) =>
  diagnoseSteps(
    gradientNoiseScaleDiagnostic,
    Array.from({ length: 14 }, (_, step) => ({ metrics: { ...norms, score: scoreOf(step) } })),
  ).alerts.map(({ rule }) => rule);

it('warns of noise on a plateau, not while the score rises or the batch is large enough', () => {
  expect(rules(noisy, () => 0.5)).toEqual(['noise-dominated']);
  expect(rules(noisy, (step) => step / 20)).toEqual([]);
  expect(rules(NORMS, () => 0.5)).toEqual([]);
});

it('has nothing to say without squared norms', () => {
  expect(diagnoseSteps(gradientNoiseScaleDiagnostic, [{ metrics: { score: 1, gradNorm: 2 } }]).sentence).toBe(
    'nothing to measure yet: needs the metrics smallBatch, largeBatch, smallSquaredNorm and largeSquaredNorm',
  );
});
