import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat } from '../estimator.fixture.js';
import { agreeing, spokenAs, spokenBatches } from '../token-records.fixture.js';
import { grpo } from './grpo.js';
import { unifiedPolicyGradient as unified } from './unified-policy-gradient.js';

type Source = 'onPolicy' | 'offPolicy';
const from = (policySource: Source, record: ReturnType<typeof spokenAs>) => ({ ...record, signals: { policySource } });

/** The examples of the methods. */
const two = () => [
  from('onPolicy', spokenAs('g', 1, { updatedLogprob: [-0.1, -1], logprob: [-0.4, -1.1] })),
  from('onPolicy', spokenAs('g', 0, { updatedLogprob: [-0.5], logprob: [-0.6] })),
];
const shown = () => [
  from('offPolicy', spokenAs('g', 1, { updatedLogprob: [-0.1, -3], logprob: [-0.1, -3] })),
  from('onPolicy', spokenAs('g', 0, { updatedLogprob: [-0.5], logprob: [-0.6] })),
];
const batches = spokenBatches('updatedLogprob', 'logprob').map((records) =>
  records.map((record, i) => from(i % 3 === 2 ? 'offPolicy' : 'onPolicy', record)),
);
const onPolicy = batches.map((records) => records.map((record) => from('onPolicy', record)));

describe('unified-policy-gradient', () => {
  it('gives the numbers of its page', () => {
    expectNumbers(creditOf(unified, two()).values, [0, 0.781473, -0.781473]);
    expectNumbers(creditOf(unified, two(), { variant: 'gspo' }).values.subarray(0, 2), [0, 0], 0);
    expectNumbers(creditOf(unified, shown(), { variant: 'luffyOffline' }).values, [0.063367, 0.156911, 0]);
    expectNumbers(creditOf(unified, shown(), { variant: 'srftOffline' }).values, [0.639816, 0.035205, 0]);
    expectNumbers(creditOf(unified, shown(), { variant: 'sft' }).values, [1, 1, 0], 0);
    expectNumbers(creditOf(unified, two(), { variant: 'reinforce' }).values, [1, 1, -1], 0);
  });

  it('shows what it divided by and what was stopped', () => {
    const { columns } = estimateOf(unified, two());
    expect(flat(columns.stabilizationMask)).toEqual([0, 1, 1]);
    expectNumbers(columns.referenceProbability, [Math.exp(-0.4), Math.exp(-1.1), Math.exp(-0.6)]);
  });

  it('stops a punished token that is already rarer', () => {
    const records = [
      from('onPolicy', spokenAs('g', 1, { updatedLogprob: [-1], logprob: [-1] })),
      from('onPolicy', spokenAs('g', 0, { updatedLogprob: [-1.5], logprob: [-1] })),
    ];
    expectNumbers(creditOf(unified, records).values, [0.7071058, 0]);
    expectNumbers(creditOf(unified, records, { clipLow: 0.5 }).values, [0.7071058, -0.7071058 * Math.exp(-0.5)]);
  });

  it('is the group advantage at the first pass over a batch, by token and by sequence', () => {
    fc.assert(
      fc.property(onPolicy, fc.constantFrom('grpo', 'gspo'), (records, variant) => {
        const first = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens }) => ({ tokens: { ...tokens, updatedLogprob: tokens!.logprob } })),
        }));
        const base = flat(estimateOf(grpo, first).tokenAdvantage);
        expectNumbers(creditOf(unified, first, { variant }).values, base, 1e-12);
      }),
    );
  });

  it('gives every token of a trajectory the same weight by sequence', () => {
    fc.assert(
      fc.property(onPolicy, (records) => {
        const { tokenAdvantage } = estimateOf(unified, records, { variant: 'gspo', clipHigh: 1e9, clipLow: 1 });
        for (const turns of tokenAdvantage as number[][][]) {
          const weights = flat(turns);
          expectNumbers(weights, weights.map(() => weights[0]), 1e-12); // prettier-ignore
        }
      }),
    );
  });

  it('gives demonstrations nothing where it learns from rollouts, and the other way round', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const source = records.flatMap((record) => record.turns.flatMap(({ tokens }) => (tokens!.logprob as number[]).map(() => record.signals.policySource))); // prettier-ignore
        for (const [variant, other] of [
          ['grpo', 'offPolicy'],
          ['luffyOffline', 'onPolicy'],
          ['sft', 'onPolicy'],
        ]) {
          // prettier-ignore
          const { values } = creditOf(unified, records, { variant });
          expect(values.every((weight, k) => source[k] !== other || weight === 0)).toBe(true);
        }
      }),
    );
  });

  it('gives exactly 0 where outcomes agree', () => {
    fc.assert(
      fc.property(batches, fc.constantFrom('grpo', 'gspo', 'srftOffline', 'luffyOffline'), (records, variant) => {
        expect(creditOf(unified, agreeing(records), { variant }).values.every((w) => Math.abs(w) === 0)).toBe(true);
      }),
    );
  });

  it('gives 0 outside the mask, and withholds credit from a group of one on request', () => {
    const columns = { updatedLogprob: [-1, null], logprob: [-1, null], mask: [1, 0] };
    const alone = [from('onPolicy', spokenAs('g', 0.5, columns))];
    expectNumbers(creditOf(unified, alone).values, [0.5, 0]);
    expectNumbers(creditOf(unified, alone, { singleton: 'zero' }).values, [0, 0], 0);
  });
});
