import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { pathPlace, pathStraightness, pathStraightnessDiagnostic } from './path-straightness.js';

it('follows a path around a corner', () => {
  const points = [[0, 0], [3, 0], [3, 4], [3, 4], [3, 4]].map((w) => ({ w })); // prettier-ignore
  const places = points.map((point, i) => pathPlace(point, points.slice(0, i), points[0]));
  expect(pathStraightness(places, 2)).toEqual({
    stepNorm: [3, 4, 0, 0],
    consecutiveCosine: [0, null, null],
    straightness: [5 / 7, 1, null],
    distanceFromStart: [0, 3, 5, 5, 5],
  });
});

const run = (pointAt: (step: number) => number[], scoreAt: (step: number) => number, count = 26) =>
  diagnoseSteps(
    pathStraightnessDiagnostic,
    Array.from({ length: count }, (_, step) => ({
      checkpoint: { tensors: { w: pointAt(step) } },
      metrics: { score: scoreAt(step) },
    })),
  );
const rules = (...given: Parameters<typeof run>) => run(...given).alerts.map(({ rule }) => rule);
const there = (step: number) => [step % 2, 0];

it('warns of thrashing on a plateau, and not while the score rises', () => {
  expect(rules(there, () => 0.5)).toEqual(['thrashing']);
  expect(rules(there, (step) => step / 30)).toEqual([]);
});

it('notes a straight path', () => {
  expect(rules((step) => [step, 2 * step], () => 0.5)).toEqual(['predictable']); // prettier-ignore
});

it('says how many checkpoints it needs, and nothing where there are none', () => {
  const few = run(there, () => 0.5, 4);
  expect(few.values['straightness']).toBeNull();
  expect(few.sentence).toBe('4 checkpoints: the straightness needs 21 checkpoints that differ');
  expect(diagnoseSteps(pathStraightnessDiagnostic, [{}]).sentence).toBe('nothing to measure yet: needs checkpoints');
});

it('compares no sketch with one of another size', () => {
  const checkpoints = [[0], [1], [1, 2], [2]].map((w) => ({ checkpoint: { tensors: { w } } }));
  const { steps, sentence } = diagnoseSteps(pathStraightnessDiagnostic, checkpoints);
  expect(steps.map(({ trainingStep }) => trainingStep)).toEqual([0, 1, 3]);
  expect(sentence).toMatch(
    /; 1 checkpoint is left out, projected otherwise than the first or with numbers that are none$/,
  );
});
