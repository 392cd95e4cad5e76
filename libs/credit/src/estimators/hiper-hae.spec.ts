import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { hiperHae } from './hiper-hae.js';

type Step = { r?: number; s?: boolean | number; low?: number; high?: number; term?: number; goal?: string | null };
const turn = ({ r = 0, s = 0, low = 0, high = 0, term, goal = 'find' }: Step) => ({
  reward: r,
  signals: { switch: s, valueLow: low, valueHigh: high, subgoal: goal, ...(term !== undefined && { valueTerm: term }) },
});
const run = (...steps: Step[]) => rollout('g', 0, steps.map(turn));
const cut = (...steps: Step[]) => ({ ...run(...steps), signals: { truncated: true } });
const two = run(
  { s: true, low: 2, high: 3, term: 2.5 },
  { low: 2.5, term: 2.5 },
  { r: 10, s: 1, low: 4, high: 5, term: 4.5, goal: 'carry' },
);

describe('hiper-hae', () => {
  it('gives the numbers of its page', () => {
    const params = { gamma: 0.9, turnLambda: 0.8, segmentLambda: 0.5, keepPenalty: -0.3 };
    const { columns, turnAdvantage } = estimateOf(hiperHae, [two], params);
    expectNumbers(turnAdvantage, [1.618, 1.9, 6], 1e-12);
    expect(columns.advantageHigh).toEqual([[expect.closeTo(2.985, 12), null, 5]]);
    expectNumbers(columns.advantageTerm, [1.46, 1.9, 5.5], 1e-12);
    expectNumbers(columns.returnLow, [3.618, 4.4, 10], 1e-12);
  });

  it('is return minus value where the traces are whole and one segment is all', () => {
    const given = [run({ r: 1, low: 0.5, high: 0.25 }, { r: 2, low: 1.5 }, { r: 4, low: 3 })];
    const { columns } = estimateOf(hiperHae, given);
    expectNumbers(columns.advantageLow, [6.5, 4.5, 1], 1e-12);
    expect(columns.advantageHigh).toEqual([[6.75, null, null]]);
    expect(columns.boundary).toEqual([[1, 0, 0]]);
    expect(columns.advantageTerm).toBeUndefined();
  });

  it('stops the trace of actions at the end of their segment', () => {
    const given = [run({ r: 1, high: 9 }, { r: 100, s: 1, high: 3 })];
    expectNumbers(creditOf(hiperHae, given).values, [4, 100], 1e-12);
  });

  it('goes on with its own value where it was cut and is told to', () => {
    const given = [cut({ r: 1, low: 2, high: 3 })];
    expectNumbers(creditOf(hiperHae, given, { gamma: 0.5 }).values, [-1], 1e-12);
    const { columns } = estimateOf(hiperHae, given, { gamma: 0.5, bootstrapTruncated: true });
    expectNumbers(columns.advantageLow, [0], 1e-12);
    expectNumbers(columns.advantageHigh, [-0.5], 1e-12);
  });

  it('charges for keeping', () => {
    const reward = (params: object) => flat(estimateOf(hiperHae, [run({}, { s: 1 })], params).columns.returnLow);
    expect(reward({ keepPenalty: -1 })).toEqual([-0.5, 0]);
    expect(reward({ keepPenalty: -1, keepPenaltyMode: 'fixed' })).toEqual([-1, 0]);
    expect([...creditOf(hiperHae, [run({})], { keepPenalty: -1 }).values]).toEqual([0]);
  });

  it('charges for a subgoal that is kept and changed', () => {
    const last = (before: string | null, now: string | null, keepConsistencyRequiresBoth: boolean) => {
      const params = { gamma: 0, keepConsistencyPenalty: -1, keepConsistencyRequiresBoth };
      return creditOf(hiperHae, [run({ goal: before }, { goal: now })], params).values[1];
    };
    expect(last('find', 'find', true)).toBe(0);
    expect(last('find', 'carry', true)).toBe(-1);
    expect(last('find', null, true)).toBe(0);
    expect(last('find', null, false)).toBe(-1);
    expect(last(null, 'find', false)).toBe(-1);
  });

  it('has no advantage for a subgoal that was not printed', () => {
    const { columns } = estimateOf(hiperHae, [run({ s: 1, high: 1, goal: null }, { s: 1, high: 1 })], {
      segmentLambda: 0,
    });
    expect(columns.advantageHigh).toEqual([[null, -1]]);
    expect(columns.returnHigh).toEqual([[1, 0]]);
  });

  it('standardises each head, exactly 0 where a head agrees', () => {
    const params = { normalizeAdvantage: true };
    const values = creditOf(hiperHae, [run({ r: 1 }), run({ r: 3 })], params).values;
    expectNumbers(values, [-1, 1], 1e-7);
    expect([...creditOf(hiperHae, [run({ r: 0.1 }), run({ r: 0.1 })], params).values]).toEqual([0, 0]);
  });
});
