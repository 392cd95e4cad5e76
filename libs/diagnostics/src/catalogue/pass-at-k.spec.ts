import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { passAtK, passAtKDiagnostic } from './pass-at-k.js';

const batchOf = (groups: readonly (readonly boolean[])[]) =>
  trajectoryBatch(
    groups.flatMap((successes, group) =>
      successes.map((success, i) => ({
        id: `${group}-${i}`,
        group: `g${group}`,
        trainingStep: 0,
        outcomeReward: success ? 1 : 0,
        success,
        turns: [],
      })),
    ),
  );

const HALF = [true, true, false, false];

it('gives the example of the method: two of four', () => {
  const found = passAtK(batchOf([HALF]), [1, 2, 4, 8]);
  expect(found.passAtK.slice(0, 3)).toEqual([0.5, expect.closeTo(5 / 6, 12), 1]);
  expect(found.passHatK.slice(0, 3)).toEqual([0.5, expect.closeTo(1 / 6, 12), 0]);
  expect([found.passAtK[3], found.passHatK[3], found.eligibleGroups[3]]).toEqual([null, null, 0]);
});

it('rises with k for one success and falls for all', () => {
  const groups = [HALF, [true, false, false, false], [true, true, true, true], [false, false, false, false]];
  const { passAtK: any, passHatK: all } = passAtK(batchOf(groups), [1, 2, 3, 4]);
  expect(any.toSorted((a, b) => a! - b!)).toEqual(any);
  expect(all.toSorted((a, b) => b! - a!)).toEqual(all);
});

it('says the same of trajectories whatever was looked at before', () => {
  const first = passAtK(batchOf([HALF]), [1, 2]);
  passAtK(batchOf([[true, true], HALF, [false]]), [1, 2]);
  expect(passAtK(batchOf([HALF]), [1, 2])).toEqual(first);
});

it('says both in one sentence', () => {
  const step = {
    trainingStep: 0,
    trajectories: batchOf(Array.from({ length: 8 }, () => HALF)),
    metrics: {},
    checkpoint: null,
  };
  const run = readRun(
    passAtKDiagnostic,
    [0, 1, 2].map((trainingStep) => ({ trainingStep, outcome: measureStep(passAtKDiagnostic, step) })),
  );
  expect(run.sentence).toBe('one try succeeds in 50 %, one of 4 in 100 %, all 4 in 0 %');
  expect(run.alerts).toMatchObject([{ rule: 'unreliable', level: 'info', openedAt: 2, saw: { reliability: 0 } }]);
  expect(run.reasons['pass@8']).toBe('no group has 8 rollouts');
});
