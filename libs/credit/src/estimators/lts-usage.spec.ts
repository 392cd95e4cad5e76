import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { ltsUsage } from './lts-usage.js';

const run = (outcome: number, ...decisions: [written: number, recalled: number][]) =>
  rollout(
    'g',
    outcome,
    decisions.map(([memoryWrite, memoryRecalled]) => ({ signals: { memoryWrite, memoryRecalled } })),
  );
const given = [run(1, [1, 1], [1, 0], [0, 0]), run(1, [1, 1]), run(0, [1, 1], [0, 0])];

describe('lts-usage', () => {
  it('pays for entries that were read in a rewarded trajectory', () => {
    const { turnAdvantage, columns } = estimateOf(ltsUsage, given);
    expectNumbers(columns.turnReward, [1.5, 1, 1, 1.5, 0, 0]);
    // mean 5/6, spread 0.683130
    expectNumbers(turnAdvantage, [0.9759, 0.243975, 0.243975, 0.9759, -1.219875, -1.219875], 1e-5);
  });

  it('takes its price for each entry, read or not', () => {
    const { columns } = estimateOf(ltsUsage, given, { sparsityWeight: 0.1 });
    expectNumbers(columns.turnReward, [1.4, 0.9, 1, 1.4, -0.1, 0], 1e-12);
  });

  it('pays nothing for an entry that is read where nothing was earned', () => {
    const { columns } = estimateOf(ltsUsage, [run(0, [1, 1]), run(-1, [1, 1])]);
    expectNumbers(columns.turnReward, [0, -1]);
  });

  it('gives exactly 0 where all decisions are worth the same, and sums to 0 in a group', () => {
    expect([...creditOf(ltsUsage, [run(1, [0, 0]), run(1, [0, 1])]).values]).toEqual([0, 0]);
    expectNumbers([creditOf(ltsUsage, given).values.reduce((a, b) => a + b)], [0], 1e-9);
  });

  it('gives a single decision of a group its reward, or 0', () => {
    expectNumbers(creditOf(ltsUsage, [run(1, [1, 1])], { epsilon: 0 }).values, [1.5]);
    expect([...creditOf(ltsUsage, [run(1, [1, 1])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
