import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { grpo } from './grpo.js';
import { klCov } from './kl-cov.js';

/** The example of the methods. */
const two = () => [
  spokenAs('g', 1, { updatedLogprob: [-0.1, -2, -0.3], logprob: [-0.1, -1.8, -0.3] }),
  spokenAs('g', 0, { updatedLogprob: [-0.2, -3], logprob: [-0.2, -2.5] }),
];
const batches = spokenBatches('updatedLogprob', 'logprob');

describe('kl-cov', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(klCov, two(), { topPercent: 20 });
    expectNumbers(columns.covariance, [0.576998, -0.497802, 0.463861, -0.780645, 1.595231]);
    expect(columns.selectedToken).toEqual([[[0, 0, 0]], [[0, 1]]]);
    // A = ∓0.7071058, ρ = e^−0.2 and e^−0.5; the last one pays 0.5 more
    const r = 0.7071058;
    const loss = [-r, -r * Math.exp(-0.2), -r, r, r * Math.exp(-0.5) + 0.5];
    expectNumbers(tokenAdvantage, loss);
    expect(loss[4]).toBeCloseTo(0.928881, 5);
  });

  it('takes per cent, at least one token, and caps the per cent by the number of tokens as the reference does', () => {
    const selected = (tokens: number, topPercent: number) => {
      const rising = Array.from({ length: tokens / 2 }, (_, k) => -1 - k);
      const columns = { updatedLogprob: rising, logprob: rising };
      const records = [spokenAs('g', 1, columns), spokenAs('g', 0, columns)];
      return flat(estimateOf(klCov, records, { topPercent }).columns.selectedToken).filter((is) => is === 1).length;
    };
    expect([0, 0.2, 1.9, 20, 20.5, 100].map((percent) => selected(100, percent))).toEqual([1, 1, 1, 20, 20, 100]);
    // 10 tokens: whatever is above 10 % counts as 10 %
    expect([9, 10, 50, 100].map((percent) => selected(10, percent))).toEqual([1, 1, 1, 1]);
  });

  it('is minus the group advantage where nothing moved', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const still = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens }) => ({ tokens: { logprob: tokens!.logprob, updatedLogprob: tokens!.logprob } })), // prettier-ignore
        }));
        const base = flat(estimateOf(grpo, still).tokenAdvantage);
        expectNumbers(creditOf(klCov, still).values, base.map((a) => -a), 1e-12); // prettier-ignore
      }),
    );
  });

  it('has covariances that sum to zero', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { columns } = estimateOf(klCov, records);
        const advantage = flat(estimateOf(grpo, records).tokenAdvantage);
        const covariance = flat(columns.covariance);
        const updated = records.flatMap(({ turns }) => turns.flatMap(({ tokens }) => tokens!.updatedLogprob as number[])); // prettier-ignore
        const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
        const whole = mean(updated.map((p, k) => p * advantage[k])) - mean(updated) * mean(advantage);
        expect(mean(covariance)).toBeCloseTo(whole, 9);
      }),
    );
  });

  it('loses exactly 0 where outcomes agree in all groups', () => {
    fc.assert(
      fc.property(batches, (records) => {
        expect(creditOf(klCov, agreeing(records), { topPercent: 50 }).values.every((loss) => loss === 0)).toBe(true);
      }),
    );
  });

  it('weighs the distance', () => {
    const dear = creditOf(klCov, two(), { topPercent: 20, klCoef: 3 }).values;
    const free = creditOf(klCov, two(), { topPercent: 20, klCoef: 0 }).values;
    expectNumbers(dear.map((loss, k) => loss - free[k]), [0, 0, 0, 0, 1.5], 1e-6); // prettier-ignore
  });

  it('does not see tokens outside the mask', () => {
    const masked = [
      spokenAs('g', 1, { updatedLogprob: [-1, -99], logprob: [-1, null], mask: [1, 0] }),
      spokenAs('g', 0, { updatedLogprob: [-2], logprob: [-2] }),
    ];
    const bare = [
      spokenAs('g', 1, { updatedLogprob: [-1], logprob: [-1] }),
      spokenAs('g', 0, { updatedLogprob: [-2], logprob: [-2] }),
    ];
    const [a, outside, b] = creditOf(klCov, masked).values;
    expect(outside).toBe(0);
    expectNumbers([a, b], creditOf(klCov, bare).values, 0);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    const alone = [spokenAs('g', 0.5, { updatedLogprob: [-1], logprob: [-1] })];
    expectNumbers(creditOf(klCov, alone).values, [-0.5]);
    expectNumbers(creditOf(klCov, alone, { singleton: 'zero' }).values, [0], 0);
  });
});
