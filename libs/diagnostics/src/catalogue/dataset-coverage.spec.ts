import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { coverageOf, datasetCoverage, datasetCoverageDiagnostic, rarefiedSaco } from './dataset-coverage.js';

/** One trajectory per word, a turn per letter: the letter is the action. */
const records = (words: string, outcomeReward = 0) =>
  words.split(' ').map((word, i) => ({
    id: `t${i}`,
    group: 'g',
    outcomeReward,
    turns: [...word].map((action) => ({ state: 's', action })),
  }));
const batch = (...steps: string[]) =>
  trajectoryBatch(
    steps.flatMap((words, trainingStep) =>
      records(words, trainingStep).map((record) => ({ ...record, id: `${trainingStep}-${record.id}`, trainingStep })),
    ),
  );

it('counts visits, returns and what is new', () => {
  const steps = coverageOf(batch('ab ab', 'abc', 'cdd'))!;
  const found = datasetCoverage(steps, { minimumSteps: [0], referenceSteps: [0, 1, 2] });
  expect(found).toMatchObject({
    minimumReturn: 0,
    referenceReturn: 2,
    referenceUnique: 4,
    cumulativeUnique: [2, 3, 4],
  });
  expect(found.steps.map(({ tq }) => tq)).toEqual([0, 0.5, 1]);
  expect(found.steps.map(({ saco }) => saco)).toEqual([0.5, 0.75, 0.5]);
  expect(found.steps.map(({ noveltyShare }) => noveltyShare)).toEqual([1, 1 / 3, 2 / 3]);
});

it('draws the larger experience down to the smaller', () => {
  // of `abb` two turns are drawn: a different pair in two of three draws
  const [small, large] = coverageOf(batch('cd', 'abb'))!;
  expect(rarefiedSaco(small, [large])).toBeCloseTo(2 / (5 / 3), 9);
});

it('estimates from a sample of the visits what all of them say', () => {
  const letters = (from: number) => String.fromCodePoint(...Array.from({ length: 4000 }, (_, i) => 0x4e00 + from + i));
  const options = { minimumSteps: [0], referenceSteps: [0, 1] };
  const trajectories = batch(letters(0), letters(2000));
  const exact = datasetCoverage(coverageOf(trajectories)!, options);
  const sampled = datasetCoverage(coverageOf(trajectories, 1000)!, options);
  expect(exact).toMatchObject({ referenceUnique: 6000, cumulativeUnique: [4000, 6000] });
  expect(exact.steps[1].noveltyShare).toBe(0.5);
  expect(sampled.steps[1].noveltyShare).toBeCloseTo(0.5, 1);
  expect(Math.abs(sampled.referenceUnique / 6000 - 1)).toBeLessThan(0.1);
});

const run = (lastWords: (step: number) => string, outcome: number) =>
  diagnoseSteps(
    datasetCoverageDiagnostic,
    Array.from({ length: 6 }, (_, step) => ({
      records: records(Array.from({ length: 32 }, () => lastWords(step)).join(' '), outcome),
    })),
  );

it('warns when nothing new is tried and it fails', () => {
  expect(run(() => 'ab', 0).alerts.map(({ rule }) => rule)).toEqual(['explores-nothing']);
  expect(run(() => 'ab', 1).alerts).toEqual([]);
  expect(run((step) => `a${step}`, 0).alerts).toEqual([]);
});

it('keeps no more of a step than it may', () => {
  const words = Array.from({ length: 2000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
  const { values } = diagnoseSteps(datasetCoverageDiagnostic, [{ records: records(words) }]);
  expect(values['uniqueStateActions']).toBe(2000);
  expect(Math.abs(values['cumulativeUnique']! / 2000 - 1)).toBeLessThan(0.15);
});
