import { expect, it } from 'vitest';
import { alertsOf, type AlertRule } from './alerts.js';

const RULE: AlertRule = {
  id: 'starved',
  level: 'warn',
  all: [{ value: 'share', op: '>=', limit: 0.5 }],
  says: 'half of the groups are silent',
};

const steps = (shares: readonly (number | null)[], observations = 8) =>
  shares.map((share, trainingStep) => ({ trainingStep, values: { share }, observations }));

const edges = (shares: readonly (number | null)[], rule: AlertRule = RULE) =>
  alertsOf(steps(shares), [rule]).map(({ openedAt, closedAt }) => [openedAt, closedAt]);

it('opens when true in three of the last five steps, and keeps what it saw', () => {
  expect(alertsOf(steps([0.6, 0.1, 0.7, 0.2, 0.5]), [RULE])).toEqual([
    { rule: 'starved', level: 'warn', says: RULE.says, openedAt: 4, closedAt: null, saw: { share: 0.5 } },
  ]);
});

it('stays silent for two of five', () => {
  expect(edges([0.6, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1])).toEqual([]);
});

it('closes after five clean steps, not four, and opens again', () => {
  const open = [1, 1, 1];
  expect(edges([...open, 0, 0, 0, 0])).toEqual([[2, null]]);
  expect(edges([...open, 0, 0, 0, 0, 1, 0, 0, 0, 0])).toEqual([[2, null]]);
  expect(edges([...open, 0, 0, 0, 0, 0, ...open])).toEqual([
    [2, 7],
    [10, null],
  ]);
});

it('passes over steps that are too small or undefined: they neither open nor clear', () => {
  expect(edges([1, null, 1, null, null, null, 1])).toEqual([[6, null]]);
  expect(alertsOf(steps([1, 1, 1], 7), [RULE])).toEqual([]);
  expect(edges([1, 1, 1, null, null, null, null, null])).toEqual([[2, null]]);
});

it('opens at once where the rule holds for one step', () => {
  expect(edges([0, 1], { ...RULE, hold: { of: 1 } })).toEqual([[1, null]]);
});

it('needs every condition', () => {
  const both: AlertRule = { ...RULE, all: [...RULE.all, { value: 'share', op: '<', limit: 0.9 }], hold: { of: 1 } };
  expect(edges([1, 0.95, 0.9], both)).toEqual([]);
  expect(edges([1, 0.89], both)).toEqual([[1, null]]);
});

it.each([
  ['<', [false, false]],
  ['<=', [false, true]],
  ['>', [true, false]],
  ['>=', [true, true]],
] as const)('reads %s', (op, [above, equal]) => {
  const rule: AlertRule = { ...RULE, all: [{ value: 'share', op, limit: 0.5 }], hold: { of: 1 } };
  expect([edges([0.6], rule).length > 0, edges([0.5], rule).length > 0]).toEqual([above, equal]);
});

it('orders alerts by their opening', () => {
  const later: AlertRule = { ...RULE, id: 'later', hold: { of: 5 } };
  expect(alertsOf(steps([1, 1, 1, 1, 1]), [later, RULE]).map(({ rule }) => rule)).toEqual(['starved', 'later']);
});
