import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times, TOY } from './behaviour.fixture.js';
import { anchorGroups, anchorGroupsDiagnostic } from './anchor-groups.js';

const OPTIONS = { gamma: 0.95, contextLevels: 2 };

it('gives the example of the method', () => {
  const paid = TOY.map((record) => ({
    ...record,
    trainingStep: 0,
    turns: record.turns.map((turn, t) => ({ ...turn, reward: t === record.turns.length - 1 ? record.outcomeReward! : 0 })), // prettier-ignore
  }));
  const found = anchorGroups(trajectoryBatch(paid), OPTIONS);
  expect(found.sizeTable.flatMap(([size, count]) => Array.from({ length: count }, () => size))).toEqual([
    1, 2, 2, 3, 6,
  ]);
  expect(found.informativeTurnShare).toBeCloseTo(0.6429, 4);
  expect(found.inconsistentPairShare[0]).toBe(0);
  expect(found.inconsistentPairShare[1]).toBeCloseTo(0.8, 12);
  expect(found.contextMeanShift[1]).toBeCloseTo(0.1235, 4);
  // without turn rewards the outcome stands on the last turn: the same
  expect(anchorGroups(trajectoryBatch(TOY), OPTIONS).informativeTurnShare).toBe(found.informativeTurnShare); // prettier-ignore
});

const path = (id: string, outcome: number, ...states: readonly string[]) =>
  rollout(id, 'g', outcome, states.map((state) => ({ state, action: 'a' }))); // prettier-ignore

it('warns of turns that stand alone and of loops compared with themselves', () => {
  const run = (...records: readonly ReturnType<typeof path>[]) => {
    const step = times(4, records);
    return diagnoseRecords(anchorGroupsDiagnostic, [step, step, step]);
  };
  const alone = run(path('a', 1, 'p', 'q', 'r'), path('b', 0, 's', 't', 'u'));
  expect(alone.alerts.map(({ rule }) => rule)).toEqual(['turns-alone']);
  expect(alone.sentence).toBe('0 % of the turns can be compared with another at the same state, 100 % are alone; a state is seen in 1 turn'); // prettier-ignore
  expect(run(path('a', 1, 'p', 'p', 'p'), path('b', 0, 's', 's')).alerts.map(({ rule }) => rule)).toEqual(['paired-with-itself']); // prettier-ignore
  expect(run(path('a', 1, 'p', 'q'), path('b', 0, 'p', 'q')).alerts).toEqual([]);
});

it('warns where another history turns the sign', () => {
  const group = [
    ...[0, 1, 2].map((i) => path(`x${i}`, 1, 'x', 's')),
    path('x3', 0.8, 'x', 's'),
    ...[0, 1, 2].map((i) => path(`y${i}`, 0, 'y', 's')),
    path('y3', 0.2, 'y', 's'),
  ];
  const step = times(1, group);
  const run = diagnoseRecords(anchorGroupsDiagnostic, [step, step, step]);
  expect(run.values['contextSignFlipShare@2']).toBeGreaterThan(0.1);
  expect(run.alerts.map(({ rule }) => rule)).toEqual(['other-histories']);
});
