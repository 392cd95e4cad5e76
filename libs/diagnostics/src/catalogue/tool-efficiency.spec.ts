import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times, TOY } from './behaviour.fixture.js';
import { toolEfficiency, toolEfficiencyDiagnostic } from './tool-efficiency.js';

/** The example: A calls once, E twice. */
const calling = (calls: Record<string, number>, error = false) =>
  TOY.map((record) => ({
    ...record,
    turns: record.turns.map((turn, t) =>
      t < (calls[record.id] ?? 0) ? { ...turn, signals: { toolName: 'search', toolError: error } } : turn,
    ),
  }));

it('gives the example of the method', () => {
  const records = calling({ A: 1, E: 2 }).slice(0, 4);
  const found = toolEfficiency(trajectoryBatch(records), 0.15);
  expect(found).toMatchObject({ blindInvocationShare: 0.5, excessCalls: 0.5, toolLift: 0, qualifyingGroups: 1 });
  expect(found.coupledToolVarianceShare).toBeCloseTo(0.1032, 4);
});

it('counts only calls, and an empty tool name is none', () => {
  const turns = [{ signals: { toolName: '', toolError: true } }, { signals: { toolName: 'x', toolError: true } }];
  const records = [{ ...rollout('a', 'g', 1, turns), trainingStep: 0 }];
  expect(toolEfficiency(trajectoryBatch(records), 0.15)).toMatchObject({ callsPerTrajectory: 1, toolFailureRate: 1 });
});

it('warns of blind calls and of failing tools, and not where nothing is wrong', () => {
  const run = (calls: Record<string, number>, error: boolean) => {
    const step = times(8, calling(calls, error).slice(0, 4));
    return diagnoseRecords(toolEfficiencyDiagnostic, [step, step, step]);
  };
  const blind = run({ A: 1, E: 2 }, true);
  expect(blind.alerts.map(({ rule }) => rule)).toEqual(['blind-invocation', 'failing-calls']);
  expect(blind.sentence).toBe('50 % of the trajectories call a tool, 50 % where a success did without; 100 % of the calls fail'); // prettier-ignore
  expect(blind.evidence[0]).toMatchObject({ group: 'g0-0', note: '2 of 4 called a tool; one solved it without' });
  expect(run({ A: 1, C: 1 }, false).alerts).toEqual([]);
});

it('names the signal that is missing', () => {
  expect(diagnoseRecords(toolEfficiencyDiagnostic, [TOY]).sentence).toMatch(/^cannot be said: turn\.toolName/);
});
