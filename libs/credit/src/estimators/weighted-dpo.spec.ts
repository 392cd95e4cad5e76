import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { weightedDpo } from './weighted-dpo.js';

/** A trajectory whose first turns are right and whose others are wrong, likelier than under the reference by so much. */
const solved = (success: boolean, right: number, wrong: number, ratio?: number) => ({
  ...rollout('g', 0, [
    ...Array.from({ length: right }, () => ({ signals: { stepCorrect: true } })),
    ...Array.from({ length: wrong }, () => ({ signals: { stepCorrect: false } })),
  ].map((turn) => (ratio === undefined ? turn : { ...turn, tokens: { logprob: [ratio / (right + wrong)], refLogprob: [0] } }))), // prettier-ignore
  success,
});

describe('weighted-dpo', () => {
  it('weighs a pair by its gap of process quality', () => {
    const loss = (a: ReturnType<typeof solved>, b: ReturnType<typeof solved>) =>
      estimateOf(weightedDpo, [a, b]).columns;
    const wide = loss(solved(true, 9, 1, 0.7), solved(false, 1, 4, 0));
    expectNumbers(wide['pairWeight'], [0.7], 1e-12);
    expectNumbers(wide['pairLoss'], [0.4611], 1e-4);
    const narrow = loss(solved(true, 3, 2, 0.7), solved(false, 1, 1, 0));
    expectNumbers(narrow['pairWeight'], [0.1], 1e-12);
    expectNumbers(narrow['pairLoss'], [0.0659], 1e-4);
  });

  it('prefers success, then quality, and pairs no two failures', () => {
    const four = [solved(true, 1, 1), solved(true, 1, 0), solved(false, 1, 0), solved(false, 0, 1)];
    const [a, b, c, d] = four.map(({ id }) => id);
    const { columns } = estimateOf(weightedDpo, four);
    expect(columns['chosen']).toEqual([a, a, b, b, b]);
    expect(columns['rejected']).toEqual([c, d, a, c, d]);
    expect(columns['pairWeight']).toEqual([0, 0.5, 0.5, 0, 1]);
    expectNumbers(creditOf(weightedDpo, four).values, [0, 1.5, 0, -1.5], 1e-12);
    expectNumbers(creditOf(weightedDpo, four, { weight: 'one' }).values, [2 - 1, 3, -2, -2], 1e-12);
    expectNumbers(creditOf(weightedDpo, four, { minWeight: 0.1 }).values, [0.1 + 0.5 - 0.5, 1.6, -0.2, -1.5], 1e-12);
  });

  it('can say what each turn added to the quality, which sums to 0', () => {
    const { turnAdvantage } = estimateOf(weightedDpo, [solved(true, 2, 1)], { granularity: 'turn' });
    expectNumbers(turnAdvantage, [1 / 3, 1 / 3, -2 / 3], 1e-12);
  });

  it('gives a group of one and a group of equals exactly 0', () => {
    expect([...creditOf(weightedDpo, [solved(true, 1, 1)]).values]).toEqual([0]);
    expect([...creditOf(weightedDpo, [solved(true, 1, 1), solved(true, 2, 2)]).values]).toEqual([0, 0]);
    expect([...creditOf(weightedDpo, [solved(true, 3, 0)], { granularity: 'turn' }).values]).toEqual([0, 0, 0]);
  });
});
