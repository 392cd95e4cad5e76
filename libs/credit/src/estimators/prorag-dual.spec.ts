import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { proragDual } from './prorag-dual.js';

const scored = (outcome: number, ...turns: [score: number, ...mask: number[]][]) =>
  rollout('g', outcome, turns.map(([processReward, ...mask]) => ({ signals: { processReward }, tokens: { mask } }))); // prettier-ignore
const two = [scored(3, [1.8, 1, 1], [1.6, 1]), scored(1, [1.2, 1], [-1.5, 1, 1, 0])];

describe('prorag-dual', () => {
  it('adds the step score to the outcome, long turns weighing more', () => {
    const { tokenAdvantage, turnAdvantage, columns } = estimateOf(proragDual, two);
    expectNumbers(turnAdvantage, [1.1251, 1.0573, -0.4924, -1.4076], 1e-4);
    expectNumbers(tokenAdvantage, [1.1251, 1.1251, 1.0573, -0.4924, -1.4076, -1.4076, 0], 1e-4);
    expectNumbers(columns['outcomeAdvantage'], [Math.SQRT1_2, -Math.SQRT1_2], 1e-4);
  });

  it('reduces to GRPO without the steps', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { columns, turnAdvantage } = estimateOf(proragDual, records, { processWeight: 0 });
        const advantages = estimateOf(grpo, records, { epsilon: 1e-4, singleton: 'zero' });
        expectNumbers(columns['outcomeAdvantage'], advantages.trajectoryAdvantage, 1e-12);
        expectNumbers(turnAdvantage, advantages.turnAdvantage, 1e-12);
      }),
      { numRuns: 30 },
    );
  });

  it('sums the step part to 0 over the generated tokens of a group', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const one = records.map((record) => ({ ...record, group: 'g', outcomeReward: 1 }));
        expect(creditOf(proragDual, one).values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
      }),
      { numRuns: 30 },
    );
  });

  it('gives a group of one no outcome part, and one token no step part', () => {
    expect(creditOf(proragDual, [scored(3, [1.8, 1])]).values).toEqual(Float64Array.of(0));
    expectNumbers(creditOf(proragDual, [scored(3, [1, 1], [0, 1])]).values, [0.5, -0.5], 1e-6);
  });

  it('gives exactly 0 where outcomes and scores agree', () => {
    const alike = [scored(0.1, [0.7, 1, 1]), scored(0.1, [0.7, 1]), scored(0.1, [0.7, 1])];
    expect([...creditOf(proragDual, alike).values]).toEqual([0, 0, 0, 0]);
  });
});
