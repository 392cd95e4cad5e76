import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { spokenAs, spokenBatches } from '../token-records.fixture.js';
import { dcpo } from './dcpo.js';
import { grpo } from './grpo.js';

/** The example of the methods. */
const three = () => [
  spokenAs('g', 1, { logprob: [-0.1, -1], temperedLogprob: [-0.15, -0.95] }),
  spokenAs('g', 0, { logprob: [-0.5], temperedLogprob: [-0.5] }),
  spokenAs('g', 0, { logprob: [-0.5], temperedLogprob: [-0.4] }),
];
const batches = spokenBatches('logprob', 'temperedLogprob');

describe('dcpo', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(dcpo, three(), { currentEntropy: 0.45 });
    expectNumbers(tokenAdvantage, [1.128159, 1.141208, -0.502043, -0.502043]);
    expectNumbers([columns.temperature, columns.positiveShare, columns.mixingWeight], [1.2, 0.333333, 0.130435]);
    expectNumbers(columns.importanceRatio, [Math.exp(-0.05), Math.exp(0.05), 1, Math.exp(0.1)]);
  });

  it('is hotter at or below the base, colder above', () => {
    const temperature = (currentEntropy: number) => estimateOf(dcpo, three(), { currentEntropy }).columns.temperature;
    expect([0.4, 0.5, 0.6].map(temperature)).toEqual([1.2, 1.2, 0.8]);
  });

  it('is the group advantage where the entropy is right, or nothing is', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const base = flat(estimateOf(grpo, records).tokenAdvantage);
        expectNumbers(creditOf(dcpo, records, { currentEntropy: 0.5 }).values, base, 0);
        expectNumbers(creditOf(dcpo, records, { currentEntropy: 0, rewardThreshold: 9 }).values, base, 0);
      }),
    );
  });

  it('counts the distance no further than asked', () => {
    const far = creditOf(dcpo, three(), { currentEntropy: 0.4 }).values;
    expectNumbers(creditOf(dcpo, three(), { currentEntropy: -7 }).values, far, 1e-12);
  });

  it('keeps right outcomes alive where all agree, and gives wrong ones exactly 0', () => {
    const agree = (outcome: number) => three().map((record) => ({ ...record, outcomeReward: outcome }));
    const params = { currentEntropy: 0.4 };
    // f = 1, a = 0.1, α = 1 / 11
    expectNumbers(creditOf(dcpo, agree(1), params).values[2], 1 / 11);
    expect([...creditOf(dcpo, agree(0), params).values]).toEqual([0, 0, 0, 0]);
  });

  it('takes the entropy from the step itself where it is not given, and says so', () => {
    const outcome = runEstimator(dcpo, trajectoryBatch(three()));
    if (outcome.kind === 'missing') throw new TypeError('credit was wanted');
    expect(outcome.warnings).toEqual(['currentEntropy is not given: taken from this training step']);
    expectNumbers(outcome.credit.explain!.currentEntropy.values, [2.1 / 4]);
    expectNumbers(outcome.credit.values, creditOf(dcpo, three(), { currentEntropy: 2.1 / 4 }).values, 1e-6);
  });

  it('gives 0 outside the mask', () => {
    const masked = [
      spokenAs('g', 1, { logprob: [-1, null], temperedLogprob: [-1, null], mask: [1, 0] }),
      spokenAs('g', 0, { logprob: [-1], temperedLogprob: [-1] }),
    ];
    expect(creditOf(dcpo, masked, { currentEntropy: 0 }).values[1]).toBe(0);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    const alone = [spokenAs('g', 0.5, { logprob: [-1], temperedLogprob: [-1] })];
    expectNumbers(creditOf(dcpo, alone, { currentEntropy: 0.5 }).values, [0.5]);
    expectNumbers(creditOf(dcpo, alone, { currentEntropy: 0.5, singleton: 'zero' }).values, [0], 0);
  });
});
