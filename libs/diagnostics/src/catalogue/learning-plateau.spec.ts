import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { erfc, learningPlateau, learningPlateauDiagnostic } from './learning-plateau.js';

const OPTIONS = { window: 30, alpha: 0.05, minimalGain: 0.02 };
const points = (scores: readonly number[]) => scores.map((score, trainingStep) => ({ trainingStep, score }));

it.each([
  [0, 1],
  [0.5, 0.4795001221869535],
  [1, 0.15729920705028513],
  [2, 0.004677734981047265],
  [3, 2.209049699858544e-5],
  [5, 1.5374597944280347e-12],
])('erfc(%d) is %d', (x, wanted) => expect(Math.abs(erfc(x) / wanted - 1)).toBeLessThan(1e-12));

it('takes the median slope and counts who is above whom', () => {
  // slopes 1, 0, −1, 0.5, −0.5, 0: S = 1 + 0 … over the pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
  const found = learningPlateau(points([0, 1, 0, 1]), OPTIONS)!;
  expect(found.mannKendallS).toBe(2);
  expect(found.theilSenSlope).toBeCloseTo((0 + 1 / 3) / 2, 12);
});

it('has no trend through one point', () => {
  expect(learningPlateau(points([1]), OPTIONS)).toBeNull();
});

function diagnose(scores: readonly number[]) {
  const outcomes = scores.map((score, trainingStep) => {
    const step = { trainingStep, trajectories: trajectoryBatch([]), metrics: { score }, checkpoint: null };
    return { trainingStep, outcome: measureStep(learningPlateauDiagnostic, step) };
  });
  return readRun(learningPlateauDiagnostic, outcomes);
}

it('warns where the score stands still, not where it rises, nor where nothing is left to gain', () => {
  const wave = (i: number) => 0.5 + (i % 2) * 0.001;
  const still = diagnose(Array.from({ length: 14 }, (_, i) => wave(i)));
  expect(still.alerts).toMatchObject([{ rule: 'halted', openedAt: 11 }]);
  expect(still.sentence).toMatch(/^the score is 0\.501 and has come to a halt/);
  expect(diagnose(Array.from({ length: 14 }, (_, i) => 0.1 + i / 30)).alerts).toEqual([]);
  expect(diagnose(Array.from({ length: 14 }, (_, i) => 0.96 + wave(i) / 100)).alerts).toEqual([]);
});
