import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { taskForgetting, taskForgettingDiagnostic } from './task-forgetting.js';

const OPTIONS = { smoothing: 0.5, learnedAt: 0.5, alertDrop: 0.3 };
const tried = (trainingStep: number, rates: Record<string, number>) => ({
  trainingStep,
  tallies: Object.entries(rates).map(([task, rate]) => ({ task, attempts: 4, successes: 4 * rate, latestHopeless: false })), // prettier-ignore
});

it('averages only the steps that sampled a task', () => {
  const { tasks, meanForgetting, forgottenTasks } = taskForgetting(
    [tried(0, { a: 1, b: 0.25 }), tried(1, { b: 0.25 }), tried(2, { a: 0 }), tried(3, { a: 0 })],
    OPTIONS,
  );
  // a: 1, then ½, then ¼
  expect(tasks).toEqual([
    { task: 'a', best: 1, bestStep: 0, now: 0.25, forgetting: 0.75, learned: true },
    { task: 'b', best: 0.25, bestStep: 0, now: 0.25, forgetting: 0, learned: false },
  ]);
  expect([meanForgetting, forgottenTasks]).toEqual([0.75, 1]);
});

it('warns of one in ten forgotten tasks, not of one in thirty', () => {
  const run = (tasks: number) => {
    const step = (isForgotten: boolean) =>
      Array.from({ length: tasks }, (_, i) => rollout(`${i}`, `g${i}`, isForgotten && i === 0 ? 0 : 1));
    return diagnoseRecords(taskForgettingDiagnostic, [false, true, true, true, true].map(step));
  };
  const forgetting = run(10);
  // .3 · 0 + .7 · 1 = .7 after one step: a drop of .3
  expect(forgetting.alerts).toMatchObject([{ rule: 'forgetting', level: 'warn', openedAt: 3, saw: { forgottenShare: 0.1 } }]); // prettier-ignore
  expect(forgetting.sentence).toMatch(/^1 of 10 learned tasks is forgotten/);
  expect(forgetting.evidence).toEqual([
    { trainingStep: 0, group: 'g0', note: 'success was 100 % here and is 24 % now' },
  ]);
  expect(run(30).alerts).toEqual([]);
});

it('says that nothing is learned yet', () => {
  expect(diagnoseRecords(taskForgettingDiagnostic, [[rollout('a', 'g', 0)]])).toMatchObject({
    values: { forgottenShare: null },
    reasons: { forgottenShare: 'no task is learned yet' },
  });
});
