import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { gae } from './gae.js';
import { turnWiseGae } from './turn-wise-gae.js';

const RAW = { turnGamma: 0.9, lambda: 0.5, whiten: false };
const EXAMPLE = rollout('g', 1, [
  { tokens: { reward: [0, 0.5, 0], value: [0.2, 0.4, 0], mask: [1, 1, 0] } },
  { tokens: { reward: [0, 1], value: [0.6, 0.8], mask: [1, 1] } },
]);
const steps = fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })), {
  minLength: 2,
  maxLength: 6,
});

describe('turn-wise-gae', () => {
  it('gives the numbers of its page', () => {
    // turn 1: 1 − 0.8 = 0.2; turn 0: 0.5 + 0.9 · 0.8 − 0.4 + 0.45 · 0.2 = 0.91
    const { turnAdvantage, tokenAdvantage, columns } = estimateOf(turnWiseGae, [EXAMPLE], RAW);
    expectNumbers(turnAdvantage, [0.91, 0.2]);
    expectNumbers(columns.turnReturn, [1.31, 1]);
    expectNumbers(tokenAdvantage, [0.91, 0.91, 0, 0.2, 0.2]);
  });

  it('reads nothing but the last generated token of a turn', () => {
    const other = rollout('g', 1, [
      { tokens: { reward: [7, -3, 0.5, 9], value: [5, 5, 0.4, 9], mask: [1, 1, 1, 0] } },
      { tokens: { reward: [1], value: [0.8], mask: [1] } },
    ]);
    const { values } = creditOf(turnWiseGae, [EXAMPLE], RAW);
    expectNumbers(creditOf(turnWiseGae, [other], RAW).values, values, 0);
    expectNumbers(creditOf(turnWiseGae, [other]).values, creditOf(turnWiseGae, [EXAMPLE]).values, 0);
  });

  it('passes over a turn without a generated token, which gets 0', () => {
    const observed = { tokens: { reward: [9], value: [9], mask: [0] } };
    const [first, second] = EXAMPLE.turns;
    const { values } = creditOf(turnWiseGae, [rollout('g', 1, [first, observed, second, observed])], RAW);
    expectNumbers(values, [0.91, 0, 0.2, 0]);
    const white = creditOf(turnWiseGae, [rollout('g', 1, [first, observed, second])], { whitenEpsilon: 0 });
    expectNumbers(white.values, [Math.SQRT1_2, 0, -Math.SQRT1_2]);
  });

  it('is GAE over turns where the value after acting is the value before', () => {
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (turns, lambda) => {
        const records = [
          rollout('g', 0, turns.map(([reward, value]) => ({ reward, signals: { valueEstimate: value }, tokens: { reward: [reward], value: [value] } }))), // prettier-ignore
        ];
        const perTurn = creditOf(gae, records, { granularity: 'turn', gamma: 0.9, lambda }).values;
        expectNumbers(creditOf(turnWiseGae, records, { turnGamma: 0.9, lambda }).values, perTurn, 1e-9);
      }),
    );
  });

  it('whitened, counts each turn once whatever its length; all equal is exactly 0', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (turns, padding) => {
        const spoken = (before: number) =>
          rollout('g', 0, turns.map(([reward, value]) => ({ tokens: { reward: [...Array<number>(before).fill(0), reward], value: [...Array<number>(before).fill(0), value] } }))); // prettier-ignore
        const { values } = creditOf(turnWiseGae, [spoken(0)], { whitenEpsilon: 0 });
        expectNumbers(creditOf(turnWiseGae, [spoken(padding)], { whitenEpsilon: 0 }).values, values, 0);
        expect(values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
      }),
    );
    const same = ['g', 'h', 'k'].map((group) => rollout(group, 0, [{ tokens: { reward: [0.3], value: [0.1] } }]));
    expect([...creditOf(turnWiseGae, same).values]).toEqual([0, 0, 0]);
  });

  it('leaves a single turn as it is and says so', () => {
    const { turnAdvantage, warnings } = estimateOf(turnWiseGae, [
      rollout('g', 1, [{ tokens: { reward: [1], value: [0.25] } }]),
    ]);
    expect(turnAdvantage).toEqual([[0.75]]);
    expect(warnings).toEqual(['not whitened: one of the turns is all there is']);
  });
});
