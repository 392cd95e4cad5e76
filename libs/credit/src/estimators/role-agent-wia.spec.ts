import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { gigpo } from './gigpo.js';
import { predictionSimilarity, roleAgentWia } from './role-agent-wia.js';

const turn = (state: string, reward: number, actualNextState = 'Nothing happens.', predictedNextState?: string) => ({
  state,
  reward,
  signals: { actualNextState, ...(predictedNextState !== undefined && { predictedNextState }) },
});
const fridge = ['You open the fridge. In it, you see an apple.', 'You open the fridge. It is empty.'] as const;
const never = { maxChars: 0, maxUntruncatedChars: 8192 };

describe('role-agent-wia', () => {
  it('gives the numbers of its page', () => {
    const given = [rollout('g', 0, [turn('s', 10, ...fridge)]), rollout('g', 0, [turn('s', 0)])];
    const { columns, turnAdvantage } = estimateOf(roleAgentWia, given, { normalizeByStd: false });
    expect(columns.similarity).toEqual([[expect.closeTo(56 / 78, 12)], [null]]);
    expectNumbers(columns.turnReward, [11.435897, 0], 1e-6);
    // half the difference to the group and half to the state
    expectNumbers(turnAdvantage, [11.435897, -11.435897], 1e-6);
  });

  it('leaves a turn alone that predicted or observed nothing, or too much', () => {
    expect(predictionSimilarity(null, 'x', never)).toBeNaN();
    expect(predictionSimilarity('x', '', never)).toBeNaN();
    expect(predictionSimilarity('aaa', 'aaa', { ...never, maxUntruncatedChars: 2 })).toBeNaN();
    expect(predictionSimilarity('', 'x', never)).toBe(0);
    expect(predictionSimilarity('X', 'x', never)).toBe(0);
  });

  it('compares the beginnings where it cuts, by characters and not by units', () => {
    expect(predictionSimilarity('abcX', 'abcY', { ...never, maxChars: 3 })).toBe(1);
    expect(predictionSimilarity('😀a', '😀b', { ...never, maxChars: 1 })).toBe(1);
    expect(predictionSimilarity('aaa', 'aaa', { maxChars: 2, maxUntruncatedChars: 2 })).toBe(1);
    expect(predictionSimilarity('😀😀', '😀😀', { ...never, maxUntruncatedChars: 2 })).toBe(1);
  });

  it('makes a well predicted loss worse', () => {
    const { columns } = estimateOf(roleAgentWia, [rollout('g', 0, [turn('s', -1, 'x', 'x')])]);
    expect(columns.turnReward).toEqual([[-1.2]]);
  });

  it('is gigpo where nothing was predicted', () => {
    const given = [
      rollout('g', 1, [turn('s', 0.25), turn('u', 0.75)]),
      rollout('g', 0, [turn('s', 0), turn('s', 0)]),
      rollout('g', 0.5, [turn('u', 0.5)]),
    ];
    const normed = { normalizeByStd: true };
    expectNumbers(creditOf(roleAgentWia, given).values, creditOf(gigpo, given, normed).values, 1e-12);
  });

  it('gives 0 to turns that agree, and one turn alone its reward or 0', () => {
    const same = [rollout('g', 0, [turn('s', 1, 'x', 'x')]), rollout('g', 0, [turn('s', 1, 'y', 'y')])];
    expect([...creditOf(roleAgentWia, same).values]).toEqual([0, 0]);
    const alone = [rollout('g', 0, [turn('s', 1)])];
    expectNumbers(creditOf(roleAgentWia, alone, { epsilon: 0 }).values, [1], 1e-12);
    expect([...creditOf(roleAgentWia, alone, { singleton: 'zero' }).values]).toEqual([0]);
  });
});
