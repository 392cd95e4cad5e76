import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { clipCov } from './clip-cov.js';
import { grpo } from './grpo.js';

/** The example of the methods. */
const two = () => [
  spokenAs('g', 1, { updatedLogprob: [-0.1, -2, -0.3], logprob: [-0.1, -1.8, -0.3] }),
  spokenAs('g', 0, { updatedLogprob: [-0.2, -3], logprob: [-0.2, -2.5] }),
];
const band = { covLow: 0.5, covHigh: 5, maskFraction: 0.5 };
const batches = spokenBatches('updatedLogprob', 'logprob');

describe('clip-cov', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(clipCov, two(), band);
    expectNumbers(columns.covariance, [0.576998, -0.497802, 0.463861, -0.780645, 1.595231]);
    expect(columns.maskedToken).toEqual([[[1, 0, 0]], [[0, 1]]]);
    expect(columns.maskedBudget).toBe(2);
    const r = 0.7071058;
    expectNumbers(tokenAdvantage, [0, -r * Math.exp(-0.2), -r, r, 0]);
  });

  it('leaves out no more than it may, which ones by the seed and not by the place in the batch', () => {
    const masked = (seed: number, records = two()) =>
      flat(estimateOf(clipCov, records, { ...band, maskFraction: 0, seed }).columns.maskedToken);
    const named = () => two().map((record, i) => ({ ...record, id: `t${i}` }));
    const bySeed = Array.from({ length: 20 }, (_, seed) => masked(seed, named()));
    expect(bySeed.every((flags) => flags.filter((is) => is === 1).length === 1)).toBe(true);
    expect(new Set(bySeed.map((flags) => flags.indexOf(1)))).toEqual(new Set([0, 4]));
    bySeed.forEach((flags, seed) => {
      const turned = masked(seed, named().reverse());
      expect([...turned.slice(2), ...turned.slice(0, 2)]).toEqual(flags);
    });
  });

  it('excludes what PPO clips already', () => {
    // A > 0 and ρ = e^0.5 > 1.2: the clipped half is the larger loss
    const records = [
      spokenAs('g', 1, { updatedLogprob: [-0.5], logprob: [-1] }),
      spokenAs('g', 0, { updatedLogprob: [-3], logprob: [-3] }),
    ];
    const { columns, tokenAdvantage } = estimateOf(clipCov, records, { clipLow: 0.2, clipHigh: 0.2, covLow: 0 });
    expect(flat(columns.excludedToken)).toEqual([1, 0]);
    expect(flat(columns.covariance)[0]).toBe(0);
    expectNumbers(flat(tokenAdvantage)[0], -0.7071058 * 1.2);
  });

  it('is minus the group advantage where nothing moved and nothing lies in the band', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const still = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens }) => ({ tokens: { logprob: tokens!.logprob, updatedLogprob: tokens!.logprob } })), // prettier-ignore
        }));
        const base = flat(estimateOf(grpo, still).tokenAdvantage);
        expectNumbers(creditOf(clipCov, still, { covLow: 1e9, covHigh: 2e9 }).values, base.map((a) => -a), 1e-12); // prettier-ignore
      }),
    );
  });

  it('loses exactly 0 where outcomes agree in all groups', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { values } = creditOf(clipCov, agreeing(records), { covLow: -1, maskFraction: 1 });
        expect(values.every((loss) => Math.abs(loss) === 0)).toBe(true);
      }),
    );
  });

  it('does not see tokens outside the mask', () => {
    const masked = [
      spokenAs('g', 1, { updatedLogprob: [-1, -99], logprob: [-1, null], mask: [1, 0] }),
      spokenAs('g', 0, { updatedLogprob: [-2], logprob: [-2] }),
    ];
    expectNumbers(creditOf(clipCov, masked).values, [-0.7071058, 0, 0.7071058]);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    const alone = [spokenAs('g', 0.5, { updatedLogprob: [-1], logprob: [-1] })];
    expectNumbers(creditOf(clipCov, alone).values, [-0.5]);
    expectNumbers(creditOf(clipCov, alone, { singleton: 'zero' }).values, [0], 0);
  });
});
