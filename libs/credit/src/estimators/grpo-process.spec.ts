import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { grpoProcess } from './grpo-process.js';

const scored = (...scores: number[]) => rollout('g', 0, scores.map((processReward) => ({ signals: { processReward } }))); // prettier-ignore

describe('grpo-process', () => {
  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(grpoProcess, [scored(0.9, 0.4, 0.8), scored(0.2, 0.6)]);
    expectNumbers(columns.normalizedScore, [1.1175, -0.6286, 0.7683, -1.327, 0.0698], 1e-4);
    expectNumbers(turnAdvantage, [1.2572, 0.1397, 0.7683, -1.2572, 0.0698], 1e-4);
  });

  it('adds up to nothing over the turns of a group, before the sums', () => {
    const scores = fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 4 }), {
      minLength: 2,
    });
    fc.assert(
      fc.property(scores, (all) => {
        const { columns } = estimateOf(grpoProcess, all.map((each) => scored(...each))); // prettier-ignore
        const total = (columns.normalizedScore as number[][]).flat().reduce((sum, z) => sum + z, 0);
        expect(total).toBeCloseTo(0, 6);
      }),
    );
  });

  it('is GRPO on the score where every trajectory has one turn', () => {
    expectNumbers(creditOf(grpoProcess, [scored(1), scored(0), scored(0.5)], { epsilon: 0 }).values, [1, -1, 0], 1e-12);
  });

  it('gives 0 to turns that agree, and a single turn its score or 0', () => {
    expect([...creditOf(grpoProcess, [scored(0.3, 0.3), scored(0.3)]).values]).toEqual([0, 0, 0]);
    expectNumbers(creditOf(grpoProcess, [scored(0.5)], { epsilon: 0 }).values, [0.5], 1e-12);
    expect([...creditOf(grpoProcess, [scored(0.5)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
