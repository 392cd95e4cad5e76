import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { difficultyBands, difficultyBandsDiagnostic } from './difficulty-bands.js';

const OPTIONS = { priorA: 1, priorB: 1, groupSize: 2 };
const tally = (task: string, successes: number, attempts: number) => ({
  task,
  attempts,
  successes,
  latestHopeless: successes === 0,
});

it('puts tasks into bands at their edges', () => {
  const { tasks } = difficultyBands(
    [0, 1, 2, 3, 4].map((c) => tally(`t${c}`, c, 4)),
    OPTIONS,
  );
  expect(tasks.map(({ band }) => band)).toEqual(['unsolved', 'hard', 'frontier', 'easy', 'solved']);
  // p = 3/6: 1 − ¼ − ¼
  expect(tasks[2]).toMatchObject({ learnability: 0.25, posteriorMean: 0.5, mixedProbability: 0.5 });
});

const stepOf = (trainingStep: number, successes: Record<string, number>) => ({
  trainingStep,
  trajectories: trajectoryBatch(
    Object.entries(successes).flatMap(([group, solved]) =>
      [0, 1, 2, 3].map((i) => ({
        id: `${group}-${i}`,
        group,
        trainingStep,
        outcomeReward: i < solved ? 1 : 0,
        turns: [],
      })),
    ),
  ),
  metrics: {},
  checkpoint: null,
});

const diagnose = (steps: readonly Record<string, number>[], thresholds = {}) =>
  readRun(
    difficultyBandsDiagnostic,
    steps.map((successes, trainingStep) => ({
      trainingStep,
      outcome: measureStep(difficultyBandsDiagnostic, stepOf(trainingStep, successes)),
    })),
    thresholds,
  );

it('adds up the attempts at a task over the window', () => {
  const run = diagnose([
    { a: 0, b: 4 },
    { a: 2, b: 4 },
  ]);
  expect(run.sentence).toBe('1 of 2 tasks is hard or at the frontier, 0 unsolved, 1 easy or solved');
  expect(run.evidence[0]).toEqual({ trainingStep: 1, group: 'a', note: '2 of 8 solved' });
  expect(diagnose([{ a: 0 }, { a: 4 }], { window: 1 }).values).toMatchObject({ solvedShare: 1 });
});

it('warns where nothing can be learned', () => {
  const tasks = Object.fromEntries([...'abcdefgh'].map((name) => [name, 0]));
  expect(diagnose([tasks, tasks, tasks]).alerts.map(({ rule }) => rule)).toEqual(['little-to-learn', 'too-hard']);
});
