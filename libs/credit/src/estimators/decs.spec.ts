import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { decs } from './decs.js';
import { grpo } from './grpo.js';

/** A response in chunks: how many tokens each, and whether it says the right answer; with as many recorded tokens. */
const chunked = (outcome: number, ...chunks: [tokens: number, containsAnswer?: true][]) =>
  rollout('g', outcome, chunks.map(([tokenCount, containsAnswer = false]) => ({ signals: { tokenCount, containsAnswer }, tokens: { mask: Array.from({ length: tokenCount }, () => 1) } }))); // prettier-ignore

/** The example of the methods. */
const three = () => [chunked(1, [2], [1, true], [2]), chunked(1, [1], [2, true]), chunked(0, [2])];
const W = { maxResponseLength: 10 };
const responses = fc
  .array(
    fc.tuple(
      fc.constantFrom(0, 1),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()), { minLength: 1, maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((drawn) =>
    drawn.map(([outcome, chunks]) =>
      chunked(outcome, ...chunks.map(([n, has]): [number, true?] => (has ? [n, true] : [n]))),
    ),
  );

describe('decs', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(decs, three(), W);
    expect(columns.chunkType).toEqual([['b', 'a', 'c'], ['b', 'a'], ['b']]);
    expectNumbers(columns.tokenReward, [1.1, 1.1, 1.1, 1.05, 1.05, 1.1, 1.1, 1.1, 0, 0], 1e-12);
    const r = 0.577349;
    expectNumbers(tokenAdvantage, [r, r, r, 0.536634, 0.536634, r, r, r, -1.154699, -1.154699]);
  });

  it('gives a chunk the mean of its tokens', () => {
    fc.assert(
      fc.property(responses, (records) => {
        const { tokenAdvantage, turnAdvantage } = estimateOf(decs, records);
        const lists = tokenAdvantage as number[][][];
        const means = lists.map((turns) =>
          turns.map((tokens) => flat(tokens).reduce((a, b) => a + b, 0) / tokens.length),
        );
        expectNumbers(turnAdvantage, flat(means), 1e-12);
      }),
    );
  });

  it('gives recorded tokens the same, one by one', () => {
    fc.assert(
      fc.property(responses, (records) => {
        const byTurn = estimateOf(decs, records);
        const byToken = estimateOf(decs, records, { granularity: 'token' });
        expectNumbers(byToken.tokenAdvantage, flat(byTurn.tokenAdvantage), 0);
        expect(byToken.columns.redundantToken).toEqual(byTurn.columns.redundantToken);
      }),
    );
  });

  it('is the group advantage where redundancy costs nothing', () => {
    fc.assert(
      fc.property(responses, (records) => {
        const base = flat(estimateOf(grpo, records).tokenAdvantage);
        expectNumbers(estimateOf(decs, records, { lengthRewardWeight: 0 }).tokenAdvantage, base, 1e-9);
      }),
    );
  });

  it('takes a redundant token below its group even where the others are shorter', () => {
    const { tokenAdvantage } = estimateOf(decs, [chunked(1, [1, true], [3]), chunked(1, [1, true])], W);
    const [, tail] = (tokenAdvantage as number[][][])[0];
    expect(tail.every((a) => a < 0)).toBe(true);
  });

  it('gives exactly 0 where all are right and none is redundant', () => {
    const { tokenAdvantage } = estimateOf(decs, [chunked(1, [1], [2, true]), chunked(1, [4, true])]);
    expect(flat(tokenAdvantage).every((a) => a === 0)).toBe(true);
  });

  it('does not mark what it is told to skip, but fills holes', () => {
    const tail = chunked(1, [1, true], [2], [2]);
    const marks = (params: object) => flat(estimateOf(decs, [tail], params).columns.redundantToken);
    expect(marks({ skipLastTokens: 1 })).toEqual([0, 1, 0, 1, 0]);
    expect(marks({ skipLastTokens: 9 })).toEqual([0, 0, 0, 0, 0]);
    expect(marks({ skipLastChunk: true })).toEqual([0, 1, 1, 0, 0]);
    const rewards = flat(estimateOf(decs, [tail], { skipLastTokens: 1, ...W }).columns.tokenReward);
    expectNumbers(rewards, [1.1, 1.05, 1.05, 1.05, 1.1], 1e-12);
  });

  it('cuts what is longer than a response can be, and says so', () => {
    const long = { ...chunked(1, [1]), turns: [{ signals: { tokenCount: 1e300, containsAnswer: false } }] };
    const outcome = runEstimator(decs, trajectoryBatch([long]), { maxResponseLength: 3 });
    expect(outcome).toMatchObject({ warnings: [expect.stringContaining('chunks cut at maxResponseLength, 3 tokens: 1'), expect.stringContaining('groups of one')] }); // prettier-ignore
  });

  it('gives 0 to a chunk without a token and to tokens outside the mask', () => {
    const empty = [chunked(1, [0], [1, true]), chunked(0, [1])];
    expect(creditOf(decs, empty).values[0]).toBe(0);
    const masked = rollout('g', 1, [{ signals: { containsAnswer: true }, tokens: { mask: [1, 0, 1] } }]);
    expectNumbers(creditOf(decs, [masked, chunked(0, [1])], { granularity: 'token' }).values.subarray(0, 3), [0.7071054, 0, 0.7071054], 1e-5); // prettier-ignore
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expectNumbers(creditOf(decs, [chunked(1, [1, true])]).values, [1.1], 1e-5);
    expectNumbers(creditOf(decs, [chunked(1, [1, true])], { singleton: 'zero' }).values, [0], 0);
  });
});
