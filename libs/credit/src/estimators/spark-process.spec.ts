import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { sparkProcess } from './spark-process.js';

type Votes = boolean | (boolean | null)[];
const verified = (verdict: Votes, steps: Votes[] = [], formatOk = true) => ({
  ...rollout('g', 0, steps.map((stepCorrect) => ({ signals: { stepCorrect } }))), // prettier-ignore
  signals: { verdict, formatOk },
});
const steps = (...right: number[]) => right.map((flag) => flag === 1);
const four = [
  verified(true, steps(1, 1, 0)),
  verified(true, steps(1, 1)),
  verified(false, steps(1, 0)),
  verified(true, steps(1, 1, 1)),
];
const rewardOf = (records: ReturnType<typeof verified>[], params: object = {}) =>
  estimateOf(sparkProcess, records, params).columns.trajectoryReward;

describe('spark-process', () => {
  it('gives the numbers of its page', () => {
    const selective = estimateOf(sparkProcess, four, { variant: 'selective' });
    expectNumbers(selective.turnAdvantage, [0.5, 0.5, 0, 0.5, 0.5, 0, -1.5, 0.5, 0.5, 0.5], 1e-4);
    const global = estimateOf(sparkProcess, four, { variant: 'global' });
    expectNumbers(global.turnAdvantage, [0.4949, 0.4949, 0.0205, 0.4949, 0.4949, -1.1051, -1.5795, 0.4949, 0.4949, 0.4949], 1e-4); // prettier-ignore
  });

  it('mixes the share of right turns into the verdict', () => {
    const five = steps(1, 1, 1, 1, 0);
    const given = [verified(true, five), verified(false, five), verified(true, [])];
    expectNumbers(rewardOf(given, { variant: 'stepAugmented' }), [0.92, 0.32, 0.6], 1e-12);
  });

  it('takes the strict majority of the attempts that could be read', () => {
    const given = [verified([true, false]), verified([true, null]), verified([true, true, false]), verified([null])];
    expect(rewardOf(given)).toEqual([0, 1, 1, 0]);
  });

  it('pays nothing out of format', () => {
    expect(rewardOf([verified(true, steps(1), false)])).toEqual([0]);
    expect(rewardOf([verified(true, steps(1), false)], { variant: 'stepAugmented' })).toEqual([0]);
  });

  it('is one advantage per trajectory where turns weigh nothing', () => {
    const global = estimateOf(sparkProcess, four, { variant: 'global', stepAdvantageWeight: 0 }).turnAdvantage;
    const whole = [...creditOf(sparkProcess, four).values];
    expectNumbers(global, [3, 2, 2, 3].flatMap((turns, i) => Array<number>(turns).fill(whole[i])), 1e-12); // prettier-ignore
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    for (const variant of ['selective', 'global']) {
      const same = [verified(true, steps(1)), verified(true, steps(1))];
      expect([...creditOf(sparkProcess, same, { variant }).values]).toEqual([0, 0]);
    }
    expectNumbers(creditOf(sparkProcess, [verified(true)], { epsilon: 0 }).values, [1], 1e-12);
    expect([...creditOf(sparkProcess, [verified(true)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
