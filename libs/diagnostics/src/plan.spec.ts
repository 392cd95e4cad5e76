import { expect, it } from 'vitest';
import { rollout, times, TOY } from './catalogue/behaviour.fixture.js';
import { DIAGNOSTICS } from './catalogue/index.js';
import { diagnoseRecords } from './diagnose.fixture.js';
import { planOf } from './plan.js';
import { runHealth, type HealthInput } from './run-health.js';

const solved = (task: string, n: number, of = 8) =>
  Array.from({ length: of }, (_, i) => rollout(`${task}-${i}`, task, i < n ? 1 : 0, [{ state: task, action: `${i}` }]));

it('says of each task what to do with it', () => {
  const step = [...solved('easy', 8), ...solved('hopeless', 0), ...solved('open', 4), ...solved('new', 0, 2), ...TOY];
  const plan = planOf(DIAGNOSTICS.map((diagnostic) => diagnoseRecords(diagnostic, [step])));
  const bands = plan.bands.map(({ band, tasks }) => [band, tasks.map(({ task }) => task)]);
  expect(bands).toEqual([
    ['unsolved', ['hopeless', 'new', 'g1']],
    ['hard', []],
    ['frontier', ['open', 'g0']],
    ['easy', []],
    ['solved', ['easy']],
  ]);
  expect(plan.drop).toEqual([
    { task: 'easy', attempts: 8, why: 'solved', advice: 'retire it' },
    { task: 'hopeless', attempts: 8, why: 'unsolved', advice: 'give a hint or a prefix' },
  ]);
  expect(plan.budget!.rollouts).toBe(step.length);
  // one rollout more from d would be newer than one from k2
  expect(
    plan.restarts.map(({ task, trajectory, prefixTurns, reason }) => [task, trajectory, prefixTurns, reason]),
  ).toEqual([
    ['g0', 'C', 1, '2 of 2 succeeded from here'],
    ['g0', 'A', 1, '1 of 3 succeeded from here'],
  ]);
  expect(plan.failures.reduce((sum, { size }) => sum + size, 0)).toBe(step.filter(({ success }) => !success).length);
});

it('spends the same rollouts across prompts and prefixes, where these bring both outcomes rather', () => {
  const step = [...solved('hopeless', 0), ...solved('open', 4), ...TOY];
  const { budget, restarts } = planOf(DIAGNOSTICS.map((diagnostic) => diagnoseRecords(diagnostic, [step])));
  const { starts, shares, rollouts } = budget!;
  expect(starts.reduce((sum, start) => sum + start.rollouts, 0)).toBe(rollouts);
  // where nothing but prompts may be started from, hopeless tasks get what is left
  expect(shares.find(({ task }) => task === 'hopeless')!.rollouts).toBeGreaterThan(0);
  for (const { task, trajectory, prefixTurns } of restarts) expect(starts).toContainEqual(expect.objectContaining({ task, trajectory, prefixTurns })); // prettier-ignore
  const total = (of: readonly { readonly mixed: number }[]) => of.reduce((sum, { mixed }) => sum + mixed, 0);
  expect(total(starts)).toBeGreaterThan(total(shares));
  for (const { rollouts, mixed, predicted: p } of starts) expect(mixed).toBeCloseTo(1 - p ** rollouts - (1 - p) ** rollouts, 12); // prettier-ignore
});

it('plans no rollouts where the last training step had one, which cannot bring both outcomes', () => {
  expect(
    planOf(DIAGNOSTICS.map((diagnostic) => diagnoseRecords(diagnostic, [solved('open', 1, 1)]))).budget,
  ).toBeNull();
});

it('plans nothing where nothing is known, and nothing with what it does not understand', () => {
  const empty = { restarts: [], drop: [], failures: [], budget: null };
  expect(planOf([])).toMatchObject(empty);
  const older = { id: 'difficulty-bands', values: {}, alerts: [], detail: { tasks: [{ task: 7 }] } };
  expect(planOf([older])).toMatchObject(empty);
});

const reading = (
  id: string,
  values: HealthInput['values'],
  alerts: readonly (readonly [HealthInput['alerts'][number]['level'], number, number | null])[] = [],
): HealthInput => ({
  // prettier-ignore
  id,
  values,
  alerts: alerts.map(([level, openedAt, closedAt]) => ({ rule: `${level}-${openedAt}`, level, says: 's', openedAt, closedAt, saw: {} })), // prettier-ignore
});

it('puts the worst first, then the longest standing, and leaves notes and what is over out', () => {
  const { lines } = runHealth([
    reading('pass-at-k', {}, [['info', 1, null], ['warn', 9, null], ['critical', 12, 14]]), // prettier-ignore
    reading('entropy-trend', {}, [['warn', 3, null], ['critical', 20, null]]), // prettier-ignore
  ]);
  expect(lines.map(({ rule }) => rule)).toEqual(['critical-20', 'warn-3', 'warn-9']);
  expect(lines[0].remedy).toMatch(/^Too low: STARE/);
});

it('names why the score stands still', () => {
  const plateau = reading('learning-plateau', { plateau: 1, score: 0.4 });
  const causesOf = (...more: readonly HealthInput[]) => runHealth([plateau, ...more]).plateauCauses;
  expect(causesOf()).toEqual(['unknown']);
  expect(causesOf(reading('zero-variance-groups', { groupFraction: 0.5 }), reading('entropy-trend', { consumedNow: 0.9 }))).toEqual(['starved', 'entropy-spent']); // prettier-ignore
  expect(causesOf(reading('difficulty-bands', { unsolvedShare: 0.4, solvedShare: 0.3 }))).toEqual(['curriculum']);
  expect(runHealth([reading('learning-plateau', { plateau: 0, score: 0.99 })]).plateauCauses).toEqual([]);
});

it('reads the health of a run that starves', () => {
  const step = times(4, TOY.slice(4)).concat(times(8, TOY.slice(4)));
  const readings = DIAGNOSTICS.map((diagnostic) => diagnoseRecords(diagnostic, [step, step, step]));
  expect(runHealth(readings).lines[0]).toMatchObject({
    level: 'critical',
    diagnostic: 'zero-variance-groups',
    since: 2,
  });
});
