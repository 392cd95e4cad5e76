import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { grpo } from './grpo.js';
import { lpReg, proxyPenalty } from './lp-reg.js';

/** The example of the methods. */
const two = () => [
  spokenAs('g', 1, { updatedLogprob: [-0.1], logprob: [-0.1], proxyLogprob: [-0.1] }),
  spokenAs('g', 0, { updatedLogprob: [-0.2, -3, -4], logprob: [-0.2, -3, -3.9], proxyLogprob: [-0.15, -2.9, -10000] }),
];
const batches = spokenBatches('updatedLogprob', 'logprob', 'proxyLogprob');

describe('lp-reg', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(lpReg, two(), { negativeFraction: 0.7 });
    expect(columns.regularizedToken).toEqual([[[0]], [[0, 1, 0]]]);
    expectNumbers(columns.klPenalty, [0, 0, 0.005171, 0]);
    expectNumbers(tokenAdvantage, [-0.7071058, 0.7071058, 0.712277, 0.639816]);
  });

  it('does nothing where a single token would be chosen', () => {
    expect(flat(estimateOf(lpReg, two(), { negativeFraction: 0.34 }).columns.regularizedToken)).toEqual([0, 0, 0, 0]);
    expect(flat(estimateOf(lpReg, two(), { negativeFraction: 1 }).columns.regularizedToken)).toEqual([0, 1, 1, 0]);
  });

  it('pulls rewarded tokens on request', () => {
    const rewarded = two().map((record) => ({ ...record, outcomeReward: 1 - record.outcomeReward! }));
    expect(flat(estimateOf(lpReg, rewarded, { negativeFraction: 1 }).columns.regularizedToken)).toEqual([0, 0, 0, 0]);
    const { columns } = estimateOf(lpReg, rewarded, { positiveFraction: 1 });
    expect(flat(columns.regularizedToken)).toEqual([0, 1, 1, 0]);
  });

  it('has a penalty between 0 and 10, 0 where both agree', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -50, max: 0, noNaN: true }),
        fc.double({ min: -50, max: 0, noNaN: true }),
        (p, q) => {
          expect(proxyPenalty(p, q)).toBeGreaterThan(-1e-12);
          expect(proxyPenalty(p, q)).toBeLessThanOrEqual(10);
          expect(proxyPenalty(p, p)).toBe(0);
        },
      ),
    );
  });

  it('is minus the group advantage where nothing moved and nothing is pulled', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const still = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens }) => ({ tokens: { ...tokens, updatedLogprob: tokens!.logprob } })),
        }));
        const base = flat(estimateOf(grpo, still).tokenAdvantage);
        expectNumbers(creditOf(lpReg, still, { negativeFraction: 0 }).values, base.map((a) => -a), 1e-12); // prettier-ignore
      }),
    );
  });

  it('does not clip a token that it pulls', () => {
    const moved = [
      spokenAs('g', 1, { updatedLogprob: [-1], logprob: [-1], proxyLogprob: [-1] }),
      spokenAs('g', 0, { updatedLogprob: [-2, -2.5], logprob: [-3, -3.5], proxyLogprob: [-1, -3] }),
    ];
    const tight = { negativeFraction: 1, clipLow: 0.2, clipHigh: 0.2, klCoef: 0 };
    // ρ = e for both; the pulled one pays r e, and so does the other: its clipped half is the smaller loss
    expectNumbers(creditOf(lpReg, moved, tight).values, [-0.7071058, 0.7071058 * Math.E, 0.7071058 * Math.E]);
  });

  it('loses exactly 0 where outcomes agree', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { values } = creditOf(lpReg, agreeing(records), { negativeFraction: 1, positiveFraction: 1 });
        expect(values.every((loss) => Math.abs(loss) === 0)).toBe(true);
      }),
    );
  });

  it('does not see tokens outside the mask', () => {
    const masked = [
      spokenAs('g', 1, { updatedLogprob: [-1, -99], logprob: [-1, null], proxyLogprob: [-1, null], mask: [1, 0] }),
      spokenAs('g', 0, { updatedLogprob: [-2], logprob: [-2], proxyLogprob: [-2] }),
    ];
    expectNumbers(creditOf(lpReg, masked).values, [-0.7071058, 0, 0.7071058]);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    const alone = [spokenAs('g', 0.5, { updatedLogprob: [-1], logprob: [-1], proxyLogprob: [-1] })];
    expectNumbers(creditOf(lpReg, alone).values, [-0.5]);
    expectNumbers(creditOf(lpReg, alone, { singleton: 'zero' }).values, [0], 0);
  });
});
