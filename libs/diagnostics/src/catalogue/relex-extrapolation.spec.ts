import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { relexExtrapolation, relexExtrapolationDiagnostic } from './relex-extrapolation.js';

const checkpointsOf = (points: readonly (readonly number[])[]) =>
  points.map((w, trainingStep) => ({ trainingStep, tensors: { w } }));

it('follows a line to where it leads, as a mixture of what is stored', () => {
  const checkpoints = checkpointsOf([1, 2, 3, 4, 5, 6].map((t) => [1 + 3 * t, 1 - 4 * t]));
  const { w } = relexExtrapolation(checkpoints, { historySteps: 3, targetSteps: [10], window: -1 }).tensors;
  expect(w.explainedVariance).toBeCloseTo(1, 12);
  expect(w.singularValue).toBeCloseTo(5 * Math.sqrt(14), 9);
  [5, 10, 15].forEach((c, t) => expect(w.coefficients[t]).toBeCloseTo(c, 9));
  expect(w.predictions[0][0]).toBeCloseTo(30, 9);
  expect(w.predictions[0][1]).toBeCloseTo(-40, 9);
  const mixed = checkpoints.slice(1, 4).map(({ tensors }, s) => w.mixWeights[0][s] * (tensors.w[0] - 4));
  expect(mixed.reduce((a, b) => a + b)).toBeCloseTo(30, 9);
  expect(w.outOfSampleR2).toBeCloseTo(1, 9);
  expect(w.futureAlignment).toHaveLength(2);
});

it('leaves a tensor that does not move where it is', () => {
  const { w } = relexExtrapolation(checkpointsOf([[1, 1], [1, 1], [1, 1]]), { historySteps: 2, targetSteps: [9], window: -1 }).tensors; // prettier-ignore
  expect(w).toMatchObject({ explainedVariance: 0, coefficients: [0, 0], predictions: [[0, 0]], outOfSampleR2: null });
});

const run = (points: readonly (readonly number[])[]) =>
  diagnoseSteps(relexExtrapolationDiagnostic, points.map((w) => ({ checkpoint: { tensors: { w } } }))); // prettier-ignore

it('notes the linear regime, with the checkpoint to try', () => {
  const { alerts, sentence, detail, values } = run(Array.from({ length: 16 }, (_, t) => [t, 2 * t, 1]));
  expect(alerts.map(({ rule }) => rule)).toEqual(['linear-regime']);
  expect(sentence).toMatch(/fits with R² 1, held-back checkpoints with R² 1: trusted up to training step 120$/);
  expect(values).toMatchObject({ linear: 1, trustedUpTo: 120 });
  expect(detail).toMatchObject({ target: 120, trainingSteps: Array.from({ length: 15 }, (_, t) => t + 1) });
});

it('is not taken in by a random walk, whose first direction explains most of it too', () => {
  const random = seededRandom('walk');
  let at = new Array<number>(400).fill(0);
  const walk = Array.from({ length: 30 }, () => (at = at.map((value) => value + random.normal())));
  const { alerts, values } = run(walk);
  expect(values['explainedVariance']).toBeGreaterThan(0.75);
  expect(values['linear']).toBe(0);
  expect(alerts).toEqual([]);
});

it('trusts no horizon where the direction holds and the pace does not, and raises no alert', () => {
  const halting = Array.from({ length: 30 }, (_, t) => [Math.min(t, 24) ** 2, t / 10]);
  const { values, reasons, sentence, alerts } = run(halting);
  expect(alerts).toEqual([]);
  expect(values).toMatchObject({ linear: 1, trustedUpTo: null });
  expect(values['outOfSampleR2']).toBeLessThan(0);
  expect(reasons['trustedUpTo']).toBe('held-back checkpoints keep to the line, but not to its pace');
  expect(sentence).toMatch(
    /, held-back checkpoints worse than no line \(R² below 0\): held-back checkpoints keep to the line, but not to its pace$/,
  );
});

it('says that it needs ten checkpoints', () => {
  const { values, reasons } = run([[0], [1]]);
  expect(values['linear']).toBeNull();
  expect(reasons['linear']).toBe('needs 10 checkpoints that differ');
});
