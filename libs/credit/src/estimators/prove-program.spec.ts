import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { nameF1, proveProgram } from './prove-program.js';

type Call = [toolName: string | null, covers: string | null, validity?: number | null, argMatch?: number | null];
const REQUIRED = [{ id: 'a', name: 'find' }, { id: 'b', name: 'open' }, { id: 'c', name: 'read' }]; // prettier-ignore
const called = (covered: string[], calls: Call[], more: object = {}) => ({
  ...rollout('g', 0, calls.map(([toolName, coversRequired, validity = 1, argMatch = 1]) => ({ signals: { toolName, coversRequired, validity, argMatch } }))), // prettier-ignore
  signals: { covered, requiredCalls: REQUIRED, ...more },
});
const inOrder: Call[] = [['find', 'a'], ['open', 'b'], ['read', 'c']]; // prettier-ignore
const rewardOf = (record: ReturnType<typeof called>) => estimateOf(proveProgram, [record]).columns.trajectoryReward;

describe('prove-program', () => {
  it('gives the numbers of its page', () => {
    const given = [
      called(['a', 'b', 'c'], [...inOrder, ['find', null], ['find', null]]),
      called(['a', 'b'], [['find', 'a', 1, 0.5], ['open', 'b', 1, 0.5], ['read', 'c', 0.5, 0.5]]), // prettier-ignore
      called(['a', 'b', 'c'], inOrder),
    ];
    const { columns, trajectoryAdvantage } = estimateOf(proveProgram, given);
    expectNumbers(columns.trajectoryReward, [0.7875, 0.6417, 0.85], 1e-4);
    expectNumbers(trajectoryAdvantage, [0.2598, -1.1043, 0.8444], 2e-4);
  });

  it('counts names as often as both have them', () => {
    expect(nameF1(['find', 'find', 'open'], ['find', 'open', 'read'])).toBeCloseTo(4 / 6, 12);
    expect(nameF1([], [])).toBe(1);
    expect(nameF1(['find'], [])).toBe(0);
  });

  it('weighs required calls, and asks for none where none is required', () => {
    const heavy = [{ id: 'a', name: 'find', weight: 3 }, { id: 'b', name: 'open', weight: 1 }]; // prettier-ignore
    // v 1, c 3/4, names 2/3
    expectNumbers(rewardOf(called(['a'], [['find', 'a']], { requiredCalls: heavy })), [0.3 + 0.3 + 0.1 * (2 / 3) + 0.05], 1e-12); // prettier-ignore
    expectNumbers(rewardOf(called([], [], { requiredCalls: [] })), [0.4 + 0.1], 1e-12);
  });

  it('keeps to the budget it is given', () => {
    const three = (callBudget: number) => rewardOf(called(['a', 'b', 'c'], inOrder, { callBudget }));
    expectNumbers(three(3), [0.85], 1e-12);
    expectNumbers(three(2), [0.85 - 0.15 / 2], 1e-12);
    expectNumbers(three(1), [0.85 - 0.15], 1e-12);
    expectNumbers(three(0), [0.85 - 0.15], 1e-12);
  });

  it('takes a turn for a call where a tool is named or its validity said', () => {
    const { columns } = estimateOf(proveProgram, [called([], [[null, null, null, null], [null, null, 0, null], ['find', null, null, null]])]); // prettier-ignore
    // two calls, neither valid; one of one name against three: 2 / 4
    expectNumbers(columns.trajectoryReward, [0.1 * 0.5], 1e-12);
  });

  it('puts each part at the turn that earned it', () => {
    const given = [called(['a', 'c'], [...inOrder, ['find', null]], { callBudget: 3 })];
    const { columns } = estimateOf(proveProgram, given, { granularity: 'turn' });
    const [valid, cover] = [0.3 / 4, 0.4 / 3];
    expectNumbers(columns.turnReward, [valid + cover, valid, valid + cover, valid - 0.15 / 3 + 0.1 * (6 / 7) + 0.05], 1e-12); // prettier-ignore
  });

  it('adds up to the reward of the trajectory', () => {
    const call: fc.Arbitrary<Call> = fc.tuple(
      fc.constantFrom('find', 'open', null),
      fc.constantFrom('a', 'b', null),
      fc.constantFrom(0, 0.5, 1, null),
      fc.constantFrom(0.5, 1, null),
    );
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 7 }), fc.subarray(['a', 'b', 'c']), (calls, covered) => {
        const { columns } = estimateOf(proveProgram, [called(covered, calls)]);
        const total = (columns.turnReward as number[][])[0].reduce((sum, value) => sum + value, 0);
        expect(total).toBeCloseTo((columns.trajectoryReward as number[])[0], 9);
      }),
    );
  });

  it.each(['trajectory', 'turn'])('gives 0 where all agree: %s', (granularity) => {
    const same = [called(['a'], [['find', 'a']]), called(['a'], [['find', 'a']])];
    expect([...creditOf(proveProgram, same, { granularity }).values]).toEqual([0, 0]);
  });

  it('gives a group of one its reward or 0', () => {
    expectNumbers(creditOf(proveProgram, [called(['a', 'b', 'c'], inOrder)], { epsilon: 0 }).values, [0.85], 1e-12);
    expect([...creditOf(proveProgram, [called([], [])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
