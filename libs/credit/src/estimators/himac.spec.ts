import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { himac } from './himac.js';

const executed = (blueprintId: string, outcome: number, roles = ['macro', 'micro'], group = 'g') => ({
  ...rollout(
    group,
    outcome,
    roles.map((role) => ({ signals: { role } })),
  ),
  signals: { blueprintId },
});
const given = [
  ...[1, 1, 0].map((r) => executed('z0', r)),
  ...[0, 0].map((r) => executed('z1', r)),
  ...[1, 0, 0].map((r) => executed('z2', r)),
];

describe('himac', () => {
  it('judges blueprints by their mean, and executions among their own', () => {
    const { columns, turnAdvantage } = estimateOf(himac, given);
    // utilities 2/3, 0, 1/3: mean 1/3, spread 1/3
    expectNumbers(
      (turnAdvantage as number[][]).map(([macro]) => macro),
      [1, 1, 1, -1, -1, 0, 0, 0],
      1e-5,
    );
    expectNumbers(
      (turnAdvantage as number[][]).map(([, micro]) => micro),
      [0.57735, 0.57735, -1.1547, 0, 0, 1.1547, -0.57735, -0.57735],
      1e-5,
    );
    expectNumbers(
      columns.blueprintUtility,
      [2, 2, 2, 0, 0, 1, 1, 1].map((x) => x / 3),
    );
  });

  it('gives 0 to a turn of any other role', () => {
    expect([...creditOf(himac, [executed('z0', 1, ['reading']), executed('z1', 0)]).values][0]).toBe(0);
  });

  it('reduces to grpo over executions where all follow one blueprint', () => {
    const { turnAdvantage } = estimateOf(himac, [
      executed('z', 1, ['micro']),
      executed('z', 0, ['micro']),
      executed('z', 0, ['micro']),
    ]);
    expectNumbers(turnAdvantage, [1.1547, -0.57735, -0.57735], 1e-5);
  });

  it('gives 0 to a blueprint and an execution that are alone, unless they shall keep their value', () => {
    expect([...creditOf(himac, [executed('z', 2)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(himac, [executed('z', 2)], { singleton: 'raw', epsilon: 0 }).values, [2, 2]);
  });

  it('tells blueprints of the same name in other groups apart, and does not change with a shift', () => {
    const others = given.map((record) => ({ ...record, id: `h${record.id}`, group: 'h', outcomeReward: 1 }));
    expect([...creditOf(himac, [...given, ...others]).values.subarray(0, 16)]).toEqual([
      ...creditOf(himac, given).values,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 50 }), (shift) => {
        const moved = given.map((record) => ({ ...record, outcomeReward: (record.outcomeReward as number) + shift }));
        expectNumbers(creditOf(himac, moved).values, creditOf(himac, given).values, 1e-9);
      }),
    );
  });
});
