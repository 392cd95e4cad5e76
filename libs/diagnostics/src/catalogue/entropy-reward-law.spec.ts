import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { entropyRewardLaw, entropyRewardLawDiagnostic } from './entropy-reward-law.js';

it('gives the example of the method', () => {
  const points = [[1, 0.2], [0.6, 0.35], [0.3, 0.42], [0.1, 0.47]].map(([entropy, score]) => ({ entropy, score })); // prettier-ignore
  const law = entropyRewardLaw(points, 4)!;
  expect(law.a).toBeCloseTo(0.165, 3);
  expect(law.b).toBeCloseTo(0.6486, 4);
  expect(law.ceiling).toBeCloseTo(0.4836, 4);
  expect(law.r2).toBeCloseTo(0.9987, 4);
  expect(law.outOfSampleRmse).toBeNull();
});

it('has no line through one entropy', () => {
  expect(entropyRewardLaw([{ entropy: 1, score: 0 }, { entropy: 1, score: 1 }], 2)).toBeNull(); // prettier-ignore
});

/** Points on R = 0.8 − 0.2 e^H. */
const run = (entropies: readonly number[], noise = (_step: number) => 0) =>
  diagnoseSteps(
    entropyRewardLawDiagnostic,
    entropies.map((entropy, step) => ({ metrics: { entropy, score: 0.8 - 0.2 * Math.exp(entropy) + noise(step) } })),
  );
const falling = (last: number, count = 20) => Array.from({ length: count }, (_, i) => 1 - ((1 - last) * i) / (count - 1)); // prettier-ignore

it('notes that entropy is spent where the score has reached its ceiling', () => {
  const { alerts, values } = run([...falling(0.01), 0.01, 0.01, 0.01]);
  expect(alerts.map(({ rule }) => rule)).toEqual(['entropy-spent']);
  expect(values['ceiling']).toBeCloseTo(0.6, 9);
  expect(run(falling(0.4)).alerts).toEqual([]);
});

it('refuses to fit what the law does not describe, and says why', () => {
  const reason = (reading: ReturnType<typeof run>) => reading.reasons['ceilingShareReached'];
  expect(reason(run(falling(0.1, 10)))).toBe('needs 15 training steps with entropy and score');
  expect(reason(run(falling(0.95)))).toBe('entropy moved by 0.05 nats only');
  expect(reason(run(falling(0.1), (step) => (step % 2 ? 1 : -1)))).toMatch(/^R² is .*: the law does not hold here$/);
});

it('prefers the validation score and marks the other', () => {
  const steps = falling(0.1).map((entropy) => ({ metrics: { entropy, score: 0.1, validationScore: 0.8 - 0.2 * Math.exp(entropy) } })); // prettier-ignore
  expect(diagnoseSteps(entropyRewardLawDiagnostic, steps).sentence).toMatch(/^the validation score is/);
  expect(run(falling(0.1)).sentence).toMatch(/^the training score \(no validation score was recorded\)/);
});

it('says of every step what it would have said then', () => {
  const entropies = [...falling(0.05, 30), 0.3, 0.05, 0.04];
  const noise = (step: number) => (step < 22 ? Math.sin(step) / 400 : Math.sin(step) / 9);
  const { steps } = run(entropies, noise);
  const then = entropies.map((_, i) => run(entropies.slice(0, i + 1), noise).values['ceilingShareReached']);
  expect(then.filter((value) => value === null)).not.toHaveLength(then.length);
  steps.forEach(({ values }, i) => {
    if (then[i] === null) expect(values['ceilingShareReached'], `step ${i}`).toBeNull();
    else expect(values['ceilingShareReached'], `step ${i}`).toBeCloseTo(then[i], 9);
  });
});
