import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { arpo, topEntropy } from './arpo.js';

type Turn = [draw: number, ...tokens: number[][]];
const drawn = (...turns: Turn[]) =>
  rollout('g', 0, turns.map(([uniformDraw, ...topLogprobs]) => ({ signals: { uniformDraw }, tokens: { topLogprobs } }))); // prettier-ignore

/** The example of the methods. */
const one = () => [drawn([0.55, [-0.1, -2.5]], [0.55, [-0.8, -1], [-0.7, -1.2]])];
const small = { vocabularySize: 100, entropyWeight: 0.5 };
const token = fc.array(fc.integer({ min: -20, max: 0 }).map((n) => n / 4), { maxLength: 3 }); // prettier-ignore
const turns = fc.array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.array(token, { minLength: 1, maxLength: 4 })), {
  minLength: 1,
  maxLength: 4,
});

describe('arpo', () => {
  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(arpo, one(), small);
    expectNumbers(columns.normalizedEntropy, [0.06421, 0.311907]);
    expectNumbers(columns.entropyDelta, [0, 0.247697]);
    expectNumbers(turnAdvantage, [0.5, 0.623849]);
    expect(columns.branch).toEqual([[0, 1]]);
  });

  it('sums over tokens: no mean, nothing renormalised', () => {
    expect(topEntropy([[Math.log(0.5)], [Math.log(0.5)]], 2)).toBeCloseTo(1, 12);
    expect(topEntropy([[0]], 10)).toBeCloseTo(0, 12);
    expect(topEntropy([], 10)).toBe(0);
  });

  it('branches at the base chance where nothing changed, and always at the first turn', () => {
    fc.assert(
      fc.property(turns, (given) => {
        const record = drawn(...given.map(([draw, tokens]): Turn => [draw / 8, ...tokens]));
        expect(creditOf(arpo, [record]).values[0]).toBe(0.5);
        const { values } = creditOf(arpo, [record], { entropyWeight: 0, baseBranchProbability: 0.3 });
        expect(values.every((p) => p === 0.3)).toBe(true);
      }),
    );
  });

  it('is a chance, higher after a rise of entropy', () => {
    fc.assert(
      fc.property(turns, (given) => {
        const record = drawn(...given.map(([draw, tokens]): Turn => [draw / 8, ...tokens]));
        const { columns, turnAdvantage } = estimateOf(arpo, [record], small);
        flat(turnAdvantage).forEach((p, t) => {
          const rise = flat(columns.entropyDelta)[t];
          expect(p).toBeGreaterThanOrEqual(0);
          expect(p).toBeLessThanOrEqual(1);
          expect(Math.sign(p - 0.5)).toBe(Math.sign(rise));
        });
      }),
    );
  });

  it('looks at no more tokens than asked, and at no observation', () => {
    const long = [drawn([0, [-1]], [0, [-1], [-1], [-1]])];
    expectNumbers(estimateOf(arpo, long, { entropyTokens: 1 }).columns.entropyDelta, [0, 0], 0);
    const masked = rollout('g', 0, [
      { signals: { uniformDraw: 0 }, tokens: { topLogprobs: [[-1], [-1]], mask: [1, 0] } },
    ]);
    expectNumbers(estimateOf(arpo, [masked], { vocabularySize: 3 }).columns.normalizedEntropy, [
      Math.exp(-1) / Math.log(3),
    ]);
  });

  it('has an entropy of 0 for a turn without a token', () => {
    const silent = rollout('g', 0, [{ signals: { uniformDraw: 0 }, tokens: { topLogprobs: [[-1]] } }, { signals: { uniformDraw: 1 } }]); // prettier-ignore
    expect(flat(estimateOf(arpo, [silent]).columns.normalizedEntropy)[1]).toBe(0);
  });
});
