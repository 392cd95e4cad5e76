import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { repro } from './repro.js';

const told = (outcome: number, ...progress: number[]) =>
  rollout(
    'g',
    outcome,
    progress.map((retroProgress) => ({ signals: { retroProgress } })),
  );
const given = [told(1, 0.2, 0.6, 1), told(0, 0.3, 0.2)];

describe('repro', () => {
  it('adds what each turn added to the progress', () => {
    const { turnAdvantage, columns } = estimateOf(repro, given);
    expectNumbers(columns.progressGain, [0.2, 0.4, 0.4, 0.3, -0.1], 1e-12);
    expectNumbers(columns.reflectionQuality, [1, 0.8]);
    // gains: mean 0.24, spread 0.2073644
    expectNumbers(turnAdvantage, [0.610661, 1.092907, 1.092907, -0.562437, -1.526929], 1e-4);
  });

  it('reduces to grpo where the progress has no weight', () => {
    const [won, lost] = creditOf(grpo, given).values;
    expectNumbers(creditOf(repro, given, { progressWeight: 0 }).values, [won, won, won, lost, lost], 1e-12);
  });

  it('starts from the progress that it is told', () => {
    const { columns } = estimateOf(repro, given, { initialProgress: 0.2 });
    expectNumbers(
      (columns.progressGain as number[][]).map(([first]) => first),
      [0, 0.1],
      1e-12,
    );
  });

  it('has no progress to compare in a single turn, and gives a group of one what is asked for', () => {
    expectNumbers(creditOf(repro, [told(1, 0.7)], { epsilon: 0 }).values, [1]);
    expect([...creditOf(repro, [told(1, 0.7)], { singleton: 'zero' }).values]).toEqual([0]);
  });

  it('says nothing of the reflection where the outcome is no share, or there is no turn', () => {
    const { columns } = estimateOf(repro, [told(7, 1), told(1), told(0, 0)]);
    expect(columns.reflectionQuality).toEqual([null, null, 1]);
  });

  it('does not change with a shift of the outcomes', () => {
    fc.assert(
      fc.property(fc.integer({ min: -20, max: 20 }), (shift) => {
        const moved = given.map((record) => ({ ...record, outcomeReward: (record.outcomeReward as number) + shift }));
        expectNumbers(creditOf(repro, moved).values, creditOf(repro, given).values, 1e-9);
      }),
    );
  });
});
