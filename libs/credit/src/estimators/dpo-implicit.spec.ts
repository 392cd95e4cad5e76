import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import * as fc from 'fast-check';
import { dpoImplicit } from './dpo-implicit.js';
import { istar } from './istar.js';

const spoken = (...turns: { logprob: number[]; refLogprob: number[]; mask?: number[] }[]) =>
  rollout('g', 0, turns.map((tokens) => ({ tokens }))); // prettier-ignore

describe('dpo-implicit', () => {
  it('sums the log ratio over the tokens of a turn, and over the turns', () => {
    const record = spoken({ logprob: [-1, -0.5], refLogprob: [-2, -1] }, { logprob: [-3], refLogprob: [-1] });
    const { turnAdvantage, columns } = estimateOf(dpoImplicit, [record], { beta: 0.1 });
    expectNumbers(turnAdvantage, [0.15, -0.2]);
    expectNumbers(columns['trajectoryReward'], [-0.05]);
  });

  it('leaves out what was not generated, and gives a turn without tokens 0', () => {
    const record = spoken({ logprob: [-1, -9], refLogprob: [-2, -1], mask: [1, 0] });
    expectNumbers(creditOf(dpoImplicit, [{ ...record, turns: [...record.turns, {}] }], { beta: 1 }).values, [1, 0]);
  });

  it('is exactly 0 where the two policies agree', () => {
    expect([...creditOf(dpoImplicit, [spoken({ logprob: [-0.3], refLogprob: [-0.3] })]).values]).toEqual([0]);
  });

  it("is iStar's step reward with the two models in place of policy and reference", () => {
    fc.assert(
      fc.property(batches, (records) => {
        const swapped = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens, ...turn }) => ({ ...turn, tokens: { mask: tokens!['mask'], logprob: tokens!['prmLogprob'], refLogprob: tokens!['logprob'] } })), // prettier-ignore
        }));
        const steps = estimateOf(istar, records, { processNormalization: 'none' }).columns['turnProcessReward'];
        expectNumbers(estimateOf(dpoImplicit, swapped).turnAdvantage, steps, 0);
      }),
      { numRuns: 20 },
    );
  });
});
