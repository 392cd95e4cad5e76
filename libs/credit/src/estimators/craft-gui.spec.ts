import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { craftGui } from './craft-gui.js';

const step = (formatScore: number, actionTypeMatch: number, valueScore: number, group = 'g', success = false) => ({
  ...rollout(group, 0),
  success,
  signals: { formatScore, actionTypeMatch, valueScore },
});
const four = [step(1, 1, 1), step(1, 1, 0.25), step(1, 0, 0), step(0, 0, 0)];

describe('craft-gui', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(craftGui, four);
    expectNumbers(columns.trajectoryReward, [1, 0.7, 0.1, 0], 1e-12);
    expectNumbers(trajectoryAdvantage, [1.1468, 0.5213, -0.7298, -0.9383], 1e-4);
  });

  it('takes the judge where the result is free text', () => {
    const judged = [0.5, 1].map((judgeScore) => ({ ...rollout('g', 0), signals: { formatScore: 1, judgeScore } }));
    expectNumbers(estimateOf(craftGui, judged, { task: 'judged' }).columns.trajectoryReward, [0.55, 1], 1e-12);
    expect(() => creditOf(craftGui, judged)).toThrow('trajectory.actionTypeMatch');
  });

  it('shows how hard each group is', () => {
    const given = [
      step(1, 1, 1, 'a', true),
      step(1, 1, 1, 'b', true),
      step(1, 1, 1, 'b', false),
      step(1, 1, 1, 'c', false),
    ];
    expect(estimateOf(craftGui, given).columns.stage).toEqual(['easy', 'medium', 'hard']);
    const { success: _, ...unsaid } = step(1, 1, 1);
    expect(estimateOf(craftGui, [unsaid]).columns.stage).toBeUndefined();
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(craftGui, [step(1, 1, 0.3), step(1, 1, 0.3)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(craftGui, [step(1, 1, 1)], { epsilon: 0 }).values, [1], 1e-12);
    expect([...creditOf(craftGui, [step(1, 1, 1)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
