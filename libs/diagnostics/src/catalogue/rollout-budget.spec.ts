import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { rolloutBudget, rolloutBudgetDiagnostic } from './rollout-budget.js';

it('gives the example of the method: chances of .5, .1 and .5, eight rollouts', () => {
  const anchor = (id: string, successes: number, attempts: number, rollouts: number) => ({ id, successes, attempts, rollouts }); // prettier-ignore
  const anchors = [anchor('a', 0, 0, 4), anchor('b', 0, 8, 4), anchor('c', 0, 0, 0)];
  const found = rolloutBudget(anchors, { priorA: 1, priorB: 1, budget: 8 });
  expect(found.predicted).toEqual([0.5, 0.1, 0.5]);
  expect(found.allocation).toEqual([4, 0, 4]);
  expect(found.expectedMixed).toBeCloseTo(1.75, 12);
  expect(found.actualExpectedMixed).toBeCloseTo(1.2188, 4);
});

it('moves rollouts to where one more is likeliest to bring the other outcome', () => {
  const task = (name: string, solved: number) =>
    Array.from({ length: 8 }, (_, i) => rollout(`${name}${i}`, name, i < solved ? 1 : 0));
  const run = diagnoseRecords(rolloutBudgetDiagnostic, [[...task('easy', 8), ...task('open', 4)]]);
  const { tasks } = run.detail as { tasks: { task: string; rollouts: number; lastRollouts: number }[] };
  expect(tasks.map(({ task: name, lastRollouts }) => [name, lastRollouts])).toEqual([['easy', 8], ['open', 8]]); // prettier-ignore
  expect(tasks[0].rollouts + tasks[1].rollouts).toBe(16);
  // four rollouts of open (.5) are mixed with .875; those of easy (.9) still gain by each more
  expect(tasks[0].rollouts).toBeGreaterThan(tasks[1].rollouts);
  expect(run.values['gain']).toBeGreaterThan(0);
});
