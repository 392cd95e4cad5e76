import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { cumulativeRegret, cumulativeRegretDiagnostic } from './cumulative-regret.js';

const curve = (id: string, group: string, ...points: readonly (readonly [tokens: number, estimate: number])[]) =>
  rollout(id, group, 1, points.map(([tokenCount, successEstimate]) => ({ signals: { tokenCount, successEstimate } }))); // prettier-ignore

it('is one less the area under the curve, cut at the budget and held beyond its end', () => {
  const batch = trajectoryBatch([curve('a', 'g', [100, 0.5], [100, 1])]);
  // to 100: a triangle of 25; to 50 of it: 6.25; to 200: 25 + 75; to 400: 200 more
  expect(cumulativeRegret(batch, [50, 100, 200, 400]).normalizedRegret).toEqual([1 - 6.25 / 50, 0.75, 0.5, 0.25]);
});

it('is the mean over tasks of the means over rollouts', () => {
  const records = [curve('a', 'g', [100, 1]), curve('b', 'g', [100, 0]), curve('c', 'h', [100, 0])];
  const batch = trajectoryBatch(records);
  expect(cumulativeRegret(batch, [100]).normalizedRegret).toEqual([0.875]);
});

it('notes a budget that buys nothing, and not one that does', () => {
  const run = (estimate: number) => {
    const step = times(32, [curve('a', 'g', [100, estimate])]);
    return diagnoseRecords(cumulativeRegretDiagnostic, [step, step, step], { params: { budget: 100 } });
  };
  expect(run(0).alerts.map(({ rule }) => rule)).toEqual(['budget-for-nothing']);
  const rising = run(0.8);
  expect(rising.alerts).toEqual([]);
  expect(rising.sentence).toBe(
    'of a budget of 100 tokens 60 % of the success is missed on the way; twice of it saves 0.2',
  );
});
