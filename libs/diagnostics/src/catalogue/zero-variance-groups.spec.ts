import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { zeroVarianceGroups } from './zero-variance-groups.js';

/** A run: for each training step its groups, for each group the outcomes. */
function diagnose(steps: readonly (readonly (readonly number[])[])[], thresholds = {}) {
  const outcomes = steps.map((groups, trainingStep) => {
    const records = groups.flatMap((rewards, group) =>
      rewards.map((outcomeReward, i) => ({
        id: `${trainingStep}-${group}-${i}`,
        group: `g${group}`,
        trainingStep,
        outcomeReward,
        success: outcomeReward === 1,
        turns: [{}],
      })),
    );
    const step = { trainingStep, trajectories: trajectoryBatch(records), metrics: {}, checkpoint: null };
    return { trainingStep, outcome: measureStep(zeroVarianceGroups, step) };
  });
  return readRun(zeroVarianceGroups, outcomes, thresholds);
}

const SILENT = [1, 1];
const SPEAKING = [1, 0];

it('counts the groups of all steps together', () => {
  const run = diagnose([
    [SILENT, SPEAKING],
    [[0, 0], SPEAKING, SPEAKING, [0.5]],
  ]);
  expect(run.values).toMatchObject({
    comparableGroups: 5,
    groupsWithSignal: 3,
    groupFraction: 0.4,
    singletonGroups: 1,
  });
  expect(run.sentence).toBe('3 of the 5 comparable groups carry a signal; in 40 % all outcomes are equal');
  expect(run.evidence).toEqual([
    { trainingStep: 0, note: '1 of 2 groups without a signal' },
    { trainingStep: 1, note: '1 of 3 groups without a signal' },
  ]);
});

it('opens at half of eight groups in three steps, never on seven', () => {
  const half = [SILENT, SILENT, SILENT, SILENT, SPEAKING, SPEAKING, SPEAKING, SPEAKING];
  const rules = (groups: readonly (readonly number[])[]) =>
    diagnose([groups, groups, groups]).alerts.map((a) => a.rule);
  expect(rules(half)).toEqual(['wasteful', 'too-easy']);
  expect(rules(half.slice(0, 7))).toEqual([]);
  expect(rules(half.map(() => [0, 0]))).toEqual(['starved', 'wasteful']);
});

it('takes other limits', () => {
  const groups = [SILENT, ...Array.from({ length: 7 }, () => SPEAKING)];
  expect(diagnose([groups, groups, groups], { warnFraction: 0.125 }).alerts).toMatchObject([
    { rule: 'wasteful', level: 'warn', openedAt: 2, saw: { groupFraction: 0.125 } },
  ]);
  expect(() => diagnose([groups], { warnFraktion: 0.1 })).toThrow(
    'zero-variance-groups has no setting warnFraktion: was warnFraction meant?',
  );
});

it('says that groups of one cannot be compared', () => {
  expect(diagnose([[[1], [0]]])).toMatchObject({
    sentence: 'none of the 2 groups has two outcomes to compare',
    values: { groupFraction: null },
    reasons: { groupFraction: 'no group has two outcomes' },
  });
});

it('names the signal that is missing', () => {
  const step = {
    trainingStep: 0,
    trajectories: trajectoryBatch([{ id: 't', group: 'g', trainingStep: 0, turns: [{}] }]),
    metrics: {},
    checkpoint: null,
  };
  const run = readRun(zeroVarianceGroups, [{ trainingStep: 0, outcome: measureStep(zeroVarianceGroups, step) }]);
  expect(run.sentence).toBe('cannot be said: trajectory.outcomeReward is missing on 1 of 1 trajectory');
  expect(run.missing).toEqual([{ trainingSteps: 1, text: 'trajectory.outcomeReward is missing on 1 of 1 trajectory' }]);
});
