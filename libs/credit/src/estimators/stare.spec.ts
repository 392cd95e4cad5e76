import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { grpo } from './grpo.js';
import { stare } from './stare.js';

/** The example of the methods; its mean entropy is 0.2375. */
const two = () => [
  spokenAs(
    'g',
    1,
    { logprob: [-0.1, -2, -0.3], entropy: [0.1, 0.5, 0.2] },
    { logprob: [-1.2, -0.4], entropy: [0.4, 0.2] },
  ),
  spokenAs('g', 0, { logprob: [-0.2, -3], entropy: [0.1, 0.3] }, { logprob: [-0.9], entropy: [0.1] }),
];
const batches = spokenBatches('logprob', 'entropy');

describe('stare', () => {
  it('gives the numbers of its page', () => {
    const { columns, tokenAdvantage } = estimateOf(stare, two(), { variant: 'C2' });
    const r = 0.7071058;
    expectNumbers(tokenAdvantage, [r, 0.777816, r, r, r, -r, -0.636395, -r]);
    expectNumbers(columns.tokenWeight, [1, 1.1, 1, 1, 1, 1, 0.9, 1], 1e-12);
    expectNumbers([columns.batchEntropy, columns.gateOn], [0.2375, 1], 1e-7);
  });

  it('leaves punished tokens alone without C2', () => {
    expectNumbers(estimateOf(stare, two()).columns.tokenWeight, [1, 1.1, 1, 1, 1, 1, 1, 1], 1e-12);
  });

  it('is the group advantage while the entropy is not below the target', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const base = estimateOf(grpo, records).tokenAdvantage;
        expectNumbers(creditOf(stare, records, { targetEntropy: 0 }).values, flat(base), 0);
      }),
    );
    const atTheTarget = [spokenAs('g', 1, { logprob: [-1], entropy: [0.5] }), spokenAs('g', 0, { logprob: [-1], entropy: [0.5] })]; // prettier-ignore
    expect(estimateOf(stare, atTheTarget, { targetEntropy: 0.5 }).columns.gateOn).toBe(0);
  });

  it('chooses the given share of each side, rounded up', () => {
    const chosen = (topRatio: number) =>
      flat(estimateOf(stare, two(), { variant: 'C2', topRatio }).columns.tokenWeight).filter((w) => w !== 1).length;
    expect([0, 0.2, 0.4, 0.5, 1].map(chosen)).toEqual([2, 2, 2 + 2, 3 + 2, 5 + 3]);
  });

  it('moves its weights one step towards the target where it adapts, and not past their bounds', () => {
    const weights = (params: object) => {
      const { columns } = estimateOf(stare, two(), { adaptive: true, ...params });
      return [columns.boostWeight, columns.dampWeight];
    };
    expectNumbers(weights({}), [1.11, 0.89], 1e-12);
    expectNumbers(weights({ targetEntropy: 0.1 }), [1.09, 0.91], 1e-12);
    expectNumbers(weights({ boostWeight: 1.5, dampWeight: 0.5 }), [1.5, 0.5], 1e-12);
    expectNumbers(weights({ boostWeight: 1, dampWeight: 1, targetEntropy: 0.1 }), [1, 1], 1e-12);
  });

  it('gives exactly 0 where outcomes agree, and weighs nothing', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { columns, tokenAdvantage } = estimateOf(stare, agreeing(records), { targetEntropy: 99, variant: 'C2' });
        expect(flat(tokenAdvantage).every((a) => a === 0)).toBe(true);
        expect(flat(columns.tokenWeight).every((w) => w === 1)).toBe(true);
      }),
    );
  });

  it('counts a reward that is the mean up to rounding to neither side', () => {
    const records = [0.1, 0.2, 0.3].map((outcome) => spokenAs('g', outcome, { logprob: [-1], entropy: [0] }));
    const { columns } = estimateOf(stare, records, { variant: 'C2' });
    expect((columns.baseAdvantage as number[])[1]).toBe(0);
    expectNumbers(columns.tokenWeight, [0.9, 1, 1.1], 1e-12);
  });

  it('does not see tokens outside the mask', () => {
    const masked = [
      spokenAs('g', 1, { logprob: [-1, -9], entropy: [0.1, 9], mask: [1, 0] }),
      spokenAs('g', 0, { logprob: [-1], entropy: [0.1] }),
    ];
    const { columns, tokenAdvantage } = estimateOf(stare, masked);
    expectNumbers(columns.batchEntropy, 0.1);
    expectNumbers(columns.tokenWeight, [1.1, 0, 1], 1e-12);
    expectNumbers(tokenAdvantage, [0.777816, 0, -0.7071058]);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    const alone = [spokenAs('g', 0.5, { logprob: [-1], entropy: [9] })];
    expectNumbers(creditOf(stare, alone).values, [0.5]);
    expectNumbers(creditOf(stare, alone, { singleton: 'zero' }).values, [0], 0);
  });
});
