import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { harGui } from './har-gui.js';

type Turn = [formatScore: number, actionScore: number, memoryUsed: boolean | null];
const acted = (...turns: Turn[]) =>
  rollout('g', 0, turns.map(([formatScore, actionScore, memoryUsed]) => ({ signals: { formatScore, actionScore, memoryUsed } }))); // prettier-ignore

describe('har-gui', () => {
  it('gives the numbers of its page', () => {
    const given = [acted([1, 1.8, true]), acted([1, 0.4, true]), acted([1, 0, false]), acted([0, 1.9, true])];
    // the third used no memory: its reward is 0 all the same
    const { columns, trajectoryAdvantage } = estimateOf(harGui, given);
    expectNumbers(columns.trajectoryReward, [2, 0.6, 0, 0], 1e-12);
    expectNumbers(trajectoryAdvantage, [1.431, -0.053, -0.689, -0.689], 1e-3);
  });

  it('takes the mean over turns, a failed judgement of memory counting nothing', () => {
    const { columns } = estimateOf(harGui, [acted([1, 1, true], [1, 0.5, null]), acted()]);
    expectNumbers(columns.turnReward, [1.2, 0.5], 1e-12);
    expectNumbers(columns.trajectoryReward, [0.85, 0], 1e-12);
  });

  it('pays nothing out of format, and asks for memory to be recorded', () => {
    expect(estimateOf(harGui, [acted([0, 2, true])]).columns.trajectoryReward).toEqual([0]);
    const bare = [rollout('g', 0, [{ signals: { formatScore: 1, actionScore: 1 } }])];
    expect(() => creditOf(harGui, bare)).toThrow('turn.memoryUsed');
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(harGui, [acted([1, 0.3, true]), acted([1, 0.5, false])]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(harGui, [acted([1, 1, true])], { epsilon: 0 }).values, [1.2], 1e-12);
    expect([...creditOf(harGui, [acted([1, 1, true])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
