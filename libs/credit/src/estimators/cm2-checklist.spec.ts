import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { cm2Checklist } from './cm2-checklist.js';

type Item = { id: string; weight: number; dependence?: string[] };
const ITEMS: Item[] = [
  { id: 'C0', weight: 0.5 },
  { id: 'C1', weight: 0.3, dependence: ['C0'] },
  { id: 'C2', weight: 0.2 },
];
/** Turns as '0:110': user turn and what is satisfied after it. */
const checked = (turns: string[], checklist: Item[][] = [ITEMS], more: object = {}) => ({
  ...rollout('g', 0, turns.map((turn) => ({ signals: { userTurn: Number(turn[0]), satisfied: turn.slice(2).split('').map(Number) } }))), // prettier-ignore
  signals: { checklist, ...more },
});
const five = [['0:100', '0:010'], ['0:001'], ['0:111'], ['0:000', '0:001'], ['0:100']].map((turns) => checked(turns));
const perTurn = { granularity: 'turn' };

describe('cm2-checklist', () => {
  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(cm2Checklist, five);
    expectNumbers(columns.trajectoryReward, [0.8, 0.2, 1, 0.2, 0.5], 1e-12);
    expectNumbers(turnAdvantage, [[0.26, 0.26], [-0.34], [0.46], [-0.34, -0.34], [-0.04]], 1e-12);
  });

  it('gives a turn the final fate of every item that is open', () => {
    // m0 = 3/5; C1 was open to three only; m2 = 3/5
    const { turnAdvantage } = estimateOf(cm2Checklist, five, perTurn);
    expectNumbers(turnAdvantage, [[0.08, -0.12], [-0.22], [0.28], [-0.22, -0.22], [0.08]], 1e-12);
  });

  it('divides by the weight of the open items where it is told to', () => {
    const { turnAdvantage } = estimateOf(cm2Checklist, five, { ...perTurn, divideByWeight: true });
    // C0 and C2 weigh 0.7; after C0 is done C1 and C2 are open: 0.5
    expectNumbers(turnAdvantage, [[0.08 / 0.7, -0.12 / 0.5], [-0.22 / 0.7], [0.4], [-0.22 / 0.7, -0.22 / 0.7], [0.08 / 0.7]], 1e-12); // prettier-ignore
  });

  it('credits an item that more rollouts than minGroup could try', () => {
    // C1: done by the first and the third of three, so m1 = 2/3; it is open before the second turn of the first only
    const { turnAdvantage } = estimateOf(cm2Checklist, five, { ...perTurn, minGroup: 2 });
    expectNumbers(turnAdvantage, [[0.08, -0.12 + 0.3 / 3], [-0.22], [0.28], [-0.22, -0.22], [0.08]], 1e-12);
  });

  it('compares user turns among those who reached them, if more than four did', () => {
    const two = [ITEMS, [{ id: 'D0', weight: 1 }]];
    const reached = ['1:1', '1:0', '1:0', '1:0', '1:1'].map((turn) => checked(['0:100', turn], two));
    const alone = checked(['0:000'], two);
    const { turnAdvantage, columns } = estimateOf(cm2Checklist, [...reached, alone], { granularity: 'userTurn' });
    expect(columns.userTurnReward).toEqual([[0.5, 1], [0.5, 0], [0.5, 0], [0.5, 0], [0.5, 1], [0]]);
    const first = 0.5 - 2.5 / 6;
    expectNumbers(turnAdvantage, [[first, 0.6], [first, -0.4], [first, -0.4], [first, -0.4], [first, 0.6], [-2.5 / 6]], 1e-9); // prettier-ignore
    const four = estimateOf(cm2Checklist, [...reached.slice(0, 3), alone], { granularity: 'userTurn' });
    expect(flat(four.turnAdvantage).every((value) => value === 0)).toBe(true);
  });

  it('counts a user turn that was never reached as 0', () => {
    const two = [ITEMS, [{ id: 'D0', weight: 1 }]];
    expectNumbers(estimateOf(cm2Checklist, [checked(['0:111'], two)]).columns.trajectoryReward, [0.5], 1e-12);
  });

  it('keeps a failed judgement with nothing, and out of statistics below the trajectory', () => {
    const failed = checked(['0:111'], [ITEMS], { judgeFailed: true });
    const whole = estimateOf(cm2Checklist, [...five, failed]);
    expect(whole.columns.trajectoryReward).toMatchObject([0.8, 0.2, 1, 0.2, 0.5, 0]);
    expect((whole.columns.userTurnReward as unknown[])[5]).toEqual([]);
    for (const granularity of ['turn', 'userTurn']) {
      const without = estimateOf(cm2Checklist, five, { granularity }).turnAdvantage as number[][];
      expect(estimateOf(cm2Checklist, [...five, failed], { granularity }).turnAdvantage).toEqual([...without, [0]]);
    }
  });

  it('never opens an item whose dependency is not there', () => {
    const items = [{ id: 'C0', weight: 1, dependence: ['nothing'] }];
    const given = ['0:1', '0:0', '0:1', '0:0', '0:1'].map((turn) => checked([turn], [items]));
    expect(flat(estimateOf(cm2Checklist, given, perTurn).turnAdvantage)).toEqual([0, 0, 0, 0, 0]);
  });

  it.each(['trajectory', 'userTurn', 'turn'])('gives 0 to rollouts that agree: %s', (granularity) => {
    const same = five.map(() => checked(['0:100', '0:010']));
    expect([...creditOf(cm2Checklist, same, { granularity, normalizeByStd: true }).values].every((a) => a === 0)).toBe(true); // prettier-ignore
  });

  it('keeps the reward of a group of one, or gives it 0', () => {
    const alone = [checked(['0:100'])];
    expect([...creditOf(cm2Checklist, alone).values]).toEqual([0.5]);
    expect([...creditOf(cm2Checklist, alone, { singleton: 'zero' }).values]).toEqual([0]);
  });

  it('warns where the verdicts do not fit the checklist', () => {
    const { warnings, columns } = estimateOf(cm2Checklist, [checked(['0:11', '0:110']), checked(['0:111'])]);
    expect(columns.trajectoryReward).toEqual([0.8, 1]);
    expect(warnings).toEqual([
      'satisfied does not match the checklist on 1 of 3 turns: an item it lacks is not satisfied',
    ]);
  });
});
