import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { inGroupSpread, inGroupSpreadDiagnostic } from './in-group-spread.js';

const batchOf = (groups: readonly (readonly number[])[]) =>
  trajectoryBatch(
    groups.flatMap((rewards, group) =>
      rewards.map((outcomeReward, i) => ({
        id: `${group}-${i}`,
        group: `g${group}`,
        trainingStep: 0,
        outcomeReward,
        turns: [],
      })),
    ),
  );

it('takes means over groups and keeps the widest half', () => {
  // sample std of 0, 1: √½; of 2, 2: 0
  expect(inGroupSpread(batchOf([[0, 1], [2, 2], [7]]), 0.5)).toEqual({
    groups: 2,
    inGroupStd: Math.SQRT1_2 / 2,
    inGroupMax: 1.5,
    inGroupMean: 1.25,
    keptGroups: ['g0'],
    keptInGroupStd: Math.SQRT1_2,
    keptInGroupMax: 1,
    keptInGroupMean: 0.5,
  });
});

it('leaves out what has no outcome, whatever was looked at before', () => {
  expect(inGroupSpread(batchOf([[0, 1], [2]]), 1)).toMatchObject({ groups: 1, inGroupMax: 1, keptGroups: ['g0'] });
  expect(inGroupSpread(batchOf([[NaN, 1], [2, NaN, 4]]), 1)).toMatchObject({ groups: 1, inGroupMax: 4, keptGroups: ['g1'] }); // prettier-ignore
});

function diagnose(steps: readonly (readonly (readonly number[])[])[], gradNorms: readonly number[] = []) {
  const outcomes = steps.map((groups, trainingStep) => {
    const metrics = trainingStep in gradNorms ? { gradNorm: gradNorms[trainingStep] } : {};
    const step = { trainingStep, trajectories: batchOf(groups), metrics, checkpoint: null };
    return { trainingStep, outcome: measureStep(inGroupSpreadDiagnostic, step) };
  });
  return readRun(inGroupSpreadDiagnostic, outcomes);
}

const eight = (rewards: readonly number[]) => Array.from({ length: 8 }, () => rewards);

it('warns when the spread is gone and the reward is not', () => {
  const steps = [eight([0, 1]), ...Array.from({ length: 12 }, () => eight([0.5, 0.5]))];
  const run = diagnose(steps);
  // 0.9^7 = 0.478: the first smoothed spread below half of the peak; three steps of that open it
  expect(run.alerts).toMatchObject([{ rule: 'echo-trap', level: 'warn', openedAt: 9 }]);
  expect(run.evidence).toEqual([{ trainingStep: 0, note: 'the largest spread, 0.707' }]);
  expect(diagnose(steps.map((_, i) => (i === 0 ? eight([0, 1]) : eight([0, 0])))).alerts).toEqual([]);
});

it('is critical at a spike of the gradient norm, and only there', () => {
  const steps = Array.from({ length: 8 }, () => eight([0, 1]));
  expect(diagnose(steps, [1, 1.1, 0.9, 1, 1.05, 1, 9, 1]).alerts).toMatchObject([
    { rule: 'gradient-spike', openedAt: 6 },
  ]);
  expect(diagnose(steps, [1, 1.1, 0.9, 1, 1.05, 1, 1.2, 1]).alerts).toEqual([]);
});

it('has nothing to say of groups of one', () => {
  expect(diagnose([[[1], [0]]]).sentence).toBe('nothing to measure yet: needs a group of two outcomes');
});
