import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { capo, wrongness } from './capo.js';

type Votes = boolean | (boolean | null)[];
const critiqued = (success: boolean, ...turns: [wrong: Votes, tokenCount: number][]) => ({
  ...rollout('g', 0, turns.map(([wrong, tokenCount]) => ({ signals: { wrong, tokenCount } }))), // prettier-ignore
  success,
});
const of = (yes: number, no: number) => [...Array<boolean>(yes).fill(true), ...Array<boolean>(no).fill(false)];
const two = [
  critiqued(true, [of(0, 4), 4], [of(3, 1), 6], [of(0, 4), 5]),
  critiqued(false, [of(4, 0), 5], [of(2, 2), 5]),
];

describe('capo', () => {
  it.each([
    ['intersection', [2, 2, 2, -1, 0], [0.7746, 0.7746, 0.7746, -1.5492, -0.7746]],
    ['majority', [2, 1, 2, -1, 0], [1.0646, 0.2061, 1.0646, -1.511, -0.6525]],
    ['average', [2, 1.25, 2, -1, -0.5], [1.0085, 0.4176, 1.0085, -1.3551, -0.9612]],
  ])('gives the numbers of its page: %s', (vote, reward, advantage) => {
    const { columns, turnAdvantage } = estimateOf(capo, two, { vote });
    expectNumbers(columns.turnReward, reward, 1e-12);
    expectNumbers(turnAdvantage, advantage, 1e-4);
  });

  it('subtracts the process term once: rewards are 2, 1, 0 and -1', () => {
    const given = [critiqued(true, [false, 1], [true, 1]), critiqued(false, [false, 1], [true, 1])];
    expect(estimateOf(capo, given).columns.turnReward).toEqual([[2, 1], [0, -1]]); // prettier-ignore
  });

  it('drops critiques that failed', () => {
    expect(wrongness([1, null], 'intersection')).toBe(1);
    expect(wrongness([1, null, 0], 'average')).toBe(0.5);
    expect(wrongness([1, 0], 'majority')).toBe(0);
    expect(wrongness([null, null], 'intersection')).toBe(0);
    expect(wrongness([], 'average')).toBe(0);
  });

  it('counts a turn once per token', () => {
    const asTokens = [critiqued(true, [true, 1], [true, 1], [false, 1]), critiqued(false, [false, 1])];
    const asTurns = [critiqued(true, [true, 2], [false, 1]), critiqued(false, [false, 1])];
    const [a, , b, c] = creditOf(capo, asTokens).values;
    expectNumbers(creditOf(capo, asTurns).values, [a, b, c], 1e-12);
    const population = creditOf(capo, asTurns, { ddof: 0, epsilon: 0 }).values;
    // rewards 1, 1, 2, 0: mean 1, population spread sqrt(1/2)
    expectNumbers(population, [0, Math.SQRT2, -Math.SQRT2], 1e-12);
  });

  it('gives 0 where tokens agree, and a single token its reward or 0', () => {
    expect([...creditOf(capo, [critiqued(true, [false, 3], [false, 2])]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(capo, [critiqued(true, [false, 1])], { epsilon: 0 }).values, [2], 1e-12);
    expect([...creditOf(capo, [critiqued(true, [false, 1])], { singleton: 'zero' }).values]).toEqual([0]);
    expect([...creditOf(capo, [critiqued(true, [false, 0])]).values]).toEqual([0]);
  });
});
