import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { entropyForkMask } from './entropy-fork-mask.js';
import { grpo } from './grpo.js';

const two = () => [spokenAs('g', 1, { entropy: [0.1, 0.9, 0.2] }), spokenAs('g', 0, { entropy: [1.4, 0.3] })];
const batches = spokenBatches('entropy');
const variants = fc.constantFrom('topk', 'quantile');

describe('entropy-fork-mask', () => {
  it.each(['topk', 'quantile'])('gives the numbers of its page (%s)', (variant) => {
    const { columns, tokenAdvantage } = estimateOf(entropyForkMask, two(), { variant, topRatio: 0.4 });
    expectNumbers(tokenAdvantage, [0, 0.7071058, 0, -0.7071058, 0]);
    expect(columns.forkMask).toEqual([[[0, 1, 0]], [[1, 0]]]);
    expect(columns.keptTokens).toBe(2);
  });

  it('rounds the share down, but keeps one token', () => {
    const kept = (topRatio: number) => estimateOf(entropyForkMask, two(), { topRatio }).columns.keptTokens;
    expect([0, 0.2, 0.39, 0.6, 1].map(kept)).toEqual([1, 1, 1, 3, 5]);
  });

  it('interpolates the quantile, and keeps what equals it', () => {
    const kept = (topRatio: number) =>
      estimateOf(entropyForkMask, two(), { variant: 'quantile', topRatio }).columns.keptTokens;
    expect([0, 0.25, 0.3, 0.5, 1].map(kept)).toEqual([1, 2, 2, 3, 5]);
  });

  it('is the group advantage where all tokens are kept', () => {
    fc.assert(
      fc.property(batches, variants, (records, variant) => {
        const base = flat(estimateOf(grpo, records).tokenAdvantage);
        expectNumbers(creditOf(entropyForkMask, records, { variant, topRatio: 1 }).values, base, 0);
      }),
    );
  });

  it('keeps the first of equal entropies', () => {
    const equal = [spokenAs('g', 1, { entropy: [1, 1] }), spokenAs('g', 0, { entropy: [1, 1] })];
    expect(flat(estimateOf(entropyForkMask, equal, { topRatio: 0.5 }).columns.forkMask)).toEqual([1, 1, 0, 0]);
  });

  it('sees no shift of the outcomes', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: -5, max: 5 }), (records, shift) => {
        const both = records.map((record) => ({ ...record, group: 'g' }));
        const moved = both.map((record) => ({ ...record, outcomeReward: record.outcomeReward! + shift }));
        const params = { singleton: 'zero' };
        expectNumbers(creditOf(entropyForkMask, moved, params).values, creditOf(entropyForkMask, both, params).values, 1e-9); // prettier-ignore
      }),
    );
  });

  it('gives exactly 0 where outcomes agree', () => {
    fc.assert(
      fc.property(batches, variants, (records, variant) => {
        expect(creditOf(entropyForkMask, agreeing(records), { variant }).values.every((a) => a === 0)).toBe(true);
      }),
    );
  });

  it('keeps no token outside the mask, and none where there is none', () => {
    const masked = [
      spokenAs('g', 1, { entropy: [0.5, 9, null], mask: [1, 0, 0] }),
      spokenAs('g', 0, { entropy: [0.1] }),
    ];
    expect(flat(estimateOf(entropyForkMask, masked).columns.forkMask)).toEqual([1, 0, 0, 0]);
    expect(estimateOf(entropyForkMask, [spokenAs('g', 1)]).columns.keptTokens).toBe(0);
    expect(estimateOf(entropyForkMask, [spokenAs('g', 1)], { variant: 'quantile' }).columns.keptTokens).toBe(0);
  });
});
