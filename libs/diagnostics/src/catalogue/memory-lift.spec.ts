import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { memoryLift, memoryLiftDiagnostic } from './memory-lift.js';

const with_ = (id: string, group: string, outcome: number, usedMemory: boolean, tokenCount = 100) =>
  rollout(id, group, outcome, [{}], { usedMemory, tokenCount });

it('compares inside groups, and shows what the raw difference would have said', () => {
  const pairs = [
    { group: 'g', lift: 0.5, tokenCost: 0.2 },
    { group: 'h', lift: -0.5, tokenCost: null },
  ];
  expect(memoryLift([{ pairs, used: { n: 4, sum: 4 }, spared: { n: 4, sum: 1 } }])).toEqual({
    pairedGroups: 2,
    pairedLift: 0,
    // the sample std of ½ and −½ is √½, over √2
    pairedLiftSe: 0.5,
    relativeTokenCost: 0.2,
    rawLift: 0.75,
    harmfulGroupShare: 0.5,
  });
});

it('warns of memory that does not help over twenty groups, not over fewer', () => {
  const run = (groups: number, outcome: number) => {
    const step = times(groups, [with_('a', 'g', outcome, true, 150), with_('b', 'g', 1, false)]);
    return diagnoseRecords(memoryLiftDiagnostic, [step, step, step], { thresholds: { window: 1 } });
  };
  const harmful = run(20, 0);
  expect(harmful.alerts).toMatchObject([{ rule: 'no-help', level: 'warn', saw: { pairedLift: -1 } }]);
  expect(harmful.sentence).toBe('memory changes the outcome by −1 ± 0 over 20 groups with both kinds, for 50 % more tokens'); // prettier-ignore
  expect(run(19, 0).alerts).toEqual([]);
  const helpful = times(20, [with_('a', 'g', 1, true), with_('b', 'g', 0, false)]);
  expect(diagnoseRecords(memoryLiftDiagnostic, [helpful, helpful, helpful]).alerts).toEqual([]);
});

it('adds up the groups of its window', () => {
  const step = times(1, [with_('a', 'g', 1, true), with_('b', 'g', 0, false)]);
  expect(diagnoseRecords(memoryLiftDiagnostic, [step, step]).values['pairedGroups']).toBe(2);
});
