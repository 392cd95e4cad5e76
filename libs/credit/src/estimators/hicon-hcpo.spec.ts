import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { hiconHcpo } from './hicon-hcpo.js';

const step = (historyLength: number, valueScore = 1, actionTypeMatch = 1, formatScore = 1) => ({
  ...rollout('g', 0),
  signals: { historyLength, valueScore, actionTypeMatch, formatScore },
});
const bonusOf = (records: ReturnType<typeof step>[], params: object = {}) =>
  estimateOf(hiconHcpo, records, params).columns.bonusApplied;

describe('hicon-hcpo', () => {
  it('gives the numbers of its page', () => {
    const given = [step(3), step(1), step(4, 0.8), step(2, 0.9)];
    const { columns, trajectoryAdvantage } = estimateOf(hiconHcpo, given);
    expectNumbers(columns.baseReward, [1.5, 1.5, 1.4, 1.45], 1e-12);
    expectNumbers(columns.trajectoryReward, [1.5, 1.8, 1.4, 1.74], 1e-12);
    expectNumbers(trajectoryAdvantage, [-0.5766, 0.9959, -1.1007, 0.6814], 1e-4);
  });

  it('calls a step a success by type and value', () => {
    const { columns } = estimateOf(hiconHcpo, [step(0, 0.87), step(0, 0.86), step(0, 1, 0)]);
    expect(columns.stepSuccess).toEqual([1, 0, 0]);
  });

  it('pays a short history against those before it only, within its block', () => {
    expect(bonusOf([step(1), step(2), step(3)])).toEqual([0, 0, 0]);
    expect(bonusOf([step(3), step(2), step(1)])).toEqual([0, 1, 1]);
    expect(bonusOf([step(3), step(2), step(1)], { blockSize: 2 })).toEqual([0, 1, 0]);
    expect(bonusOf([step(3), step(3), step(1, 0.85)])).toEqual([0, 0, 0]);
  });

  it('is GRPO on the base reward where the bonus is none', () => {
    const given = [step(3, 1), step(2, 0.9), step(1, 0.8)];
    expectNumbers(creditOf(hiconHcpo, given, { bonusFactor: 1, epsilon: 0 }).values, [1, 0, -1], 1e-9);
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(hiconHcpo, [step(1), step(1)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(hiconHcpo, [step(1)], { epsilon: 0 }).values, [1.5], 1e-12);
    expect([...creditOf(hiconHcpo, [step(1)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
