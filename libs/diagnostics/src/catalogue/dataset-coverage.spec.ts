import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { measureStep, readRun } from '../run-diagnostic.js';
import { coverageOf } from '../step-coverage.js';
import { datasetCoverage, datasetCoverageDiagnostic, rarefiedSaco } from './dataset-coverage.js';

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

it('estimates unions and novelty without a bias, whatever the states are', () => {
  const random = seededRandom('coverage');
  const errors = Array.from({ length: 20 }, (_, draw) => {
    const seen = random.integer(3000) + 1000;
    const words = () => Array.from({ length: 40 }, () => Array.from({ length: 50 }, () => random.integer(seen)));
    const step = (trainingStep: number) =>
      words().map((states, i) => ({
        id: `${trainingStep}-${i}`,
        group: `g${i % 2}`,
        trainingStep,
        outcomeReward: 0,
        turns: states.map((state) => ({ state: `run ${draw}, state ${state}`.repeat(5), action: `go ${state % 3}` })),
      }));
    const trajectories = trajectoryBatch([0, 1, 2].flatMap(step));
    const options = { minimumSteps: [0], referenceSteps: [0, 1, 2] };
    const [exact, sampled] = [Infinity, 512].map((most) => datasetCoverage(coverageOf(trajectories, most)!, options));
    expect(exact.referenceUnique).toBe(new Set(visitsOf(trajectories)).size);
    return [
      sampled.referenceUnique / exact.referenceUnique - 1,
      sampled.cumulativeUnique[1] / exact.cumulativeUnique[1] - 1,
      sampled.steps[2].noveltyShare! - exact.steps[2].noveltyShare!,
    ];
  });
  expect(Math.max(...errors.flat().map(Math.abs))).toBeLessThan(0.15);
  for (const one of [0, 1, 2]) {
    const of = errors.map((each) => each[one]);
    expect(Math.abs(of.reduce((sum, error) => sum + error) / of.length)).toBeLessThan(0.03);
  }
});

/** [turns] its visit, said in full */
function visitsOf({ groups, groupOf, turnOffsets, stateKey, actionKey, texts }: TrajectoryBatch): string[] {
  return [...groupOf].flatMap((group, row) =>
    Array.from({ length: turnOffsets[row + 1] - turnOffsets[row] }, (_, k) => {
      const turn = turnOffsets[row] + k;
      return JSON.stringify([groups[group], texts!.states[stateKey[turn]], texts!.actions[actionKey[turn]]]);
    }),
  );
}

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

it('is stored as JSON in eight bytes a visit, and read from it', () => {
  const steps = [0, 1000].map((from, trainingStep) => {
    const letters = String.fromCodePoint(...Array.from({ length: 2000 }, (_, i) => 0x4e00 + from + i));
    const trajectories = trajectoryBatch(records(letters).map((record) => ({ ...record, trainingStep })));
    const step = { trainingStep, trajectories, metrics: {}, checkpoint: null };
    return { trainingStep, outcome: measureStep(datasetCoverageDiagnostic, step) };
  });
  const stored = JSON.stringify(steps);
  expect(stored.length).toBeLessThan(2 * (8 * 512 + 500));
  expect(readRun(datasetCoverageDiagnostic, JSON.parse(stored))).toEqual(readRun(datasetCoverageDiagnostic, steps));
  const { values } = readRun(datasetCoverageDiagnostic, JSON.parse(stored));
  // 3,000 letters, half of those of the second step are new
  expect(Math.abs(values['cumulativeUnique']! / 3000 - 1)).toBeLessThan(0.15);
  expect(values['noveltyShare']).toBeCloseTo(0.5, 1);
});
