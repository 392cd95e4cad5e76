import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { delta } from './delta.js';
import { grpo } from './grpo.js';

type Token = [logprob: number, ...hidden: number[]];
const spoken = (group: string, outcome: number, ...tokens: Token[]) =>
  rollout(group, outcome, [
    { tokens: { logprob: tokens.map(([p]) => p), hiddenState: tokens.map(([, ...hidden]) => hidden) } },
  ]);

/** The example of the methods. */
const two = () => [spoken('g', 1, [-0.1, 1, 0], [-1, 1, 1]), spoken('g', 0, [-0.1, 1, 0], [-1.5, 0.5, -1])];

const token = fc.tuple(
  fc.integer({ min: -8, max: 0 }),
  fc.integer({ min: -4, max: 4 }),
  fc.integer({ min: -4, max: 4 }),
);
const batches = fc
  .array(
    fc.tuple(
      fc.constantFrom('g', 'h'),
      fc.integer({ min: -2, max: 2 }),
      fc.array(token, { minLength: 1, maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 5 },
  ) // prettier-ignore
  .map((drawn) =>
    drawn.map(([group, outcome, tokens]) => spoken(group, outcome, ...tokens.map(([p, x, y]): Token => [p / 4, x, y]))),
  );

describe('delta', () => {
  it('gives the numbers of its page', () => {
    const { columns } = estimateOf(delta, two());
    expectNumbers(columns.tokenWeight, [0.921346, 1.078831, 0.921062, 1.07876]);
    const first = estimateOf(delta, two(), { refinements: 0 }).columns;
    expectNumbers(first.centroidPositive, [(1 - Math.exp(-0.1) + 1 - Math.exp(-1)) / 2, (1 - Math.exp(-1)) / 2]);
    expectNumbers(columns.centroidPositive, [0.437645, 0.403179]);
    expectNumbers(columns.centroidNegative, [0.282259, -0.495612]);
  });

  it('damps a token that both sides share, on both sides', () => {
    const { columns } = estimateOf(delta, two());
    const [shared, own, sharedToo, ownToo] = flat(columns.tokenWeight);
    expect(shared).toBeLessThan(own);
    expect(sharedToo).toBeLessThan(ownToo);
    expect(flat(columns.tokenScore)[1]).toBeGreaterThan(flat(columns.tokenScore)[0]);
  });

  it('has weights of mean 1, within the asked range of each other', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 0, max: 3 }), (records, refinements) => {
        const weight = flat(estimateOf(delta, records, { refinements }).columns.tokenWeight);
        expect(weight.reduce((sum, w) => sum + w, 0) / weight.length).toBeCloseTo(1, 9);
        expect(Math.max(...weight) / Math.min(...weight)).toBeLessThanOrEqual(1.5 + 1e-9);
      }),
    );
  });

  it('is the group advantage where all weights are the same', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const base = flat(estimateOf(grpo, records).tokenAdvantage);
        expectNumbers(creditOf(delta, records, { minWeight: 1, maxWeight: 1 }).values, base, 1e-12);
      }),
    );
  });

  it('turns with the hidden states: a rotation changes no weight', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const turned = records.map((record) => ({
          ...record,
          turns: record.turns.map(({ tokens }) => ({
            tokens: { ...tokens, hiddenState: (tokens!.hiddenState as number[][]).map(([x, y]) => [-y, x]) },
          })),
        }));
        expectNumbers(creditOf(delta, turned).values, creditOf(delta, records).values, 1e-9);
      }),
    );
  });

  it('weighs nothing and gives exactly 0 where outcomes agree', () => {
    const agree = two().map((record) => ({ ...record, outcomeReward: 0.3 }));
    const { columns, tokenAdvantage } = estimateOf(delta, agree);
    expect(flat(tokenAdvantage).map(Math.abs)).toEqual([0, 0, 0, 0]);
    expectNumbers(columns.tokenWeight, [1, 1, 1, 1], 1e-12);
    expectNumbers(estimateOf(delta, agree, { minWeight: 0 }).columns.tokenWeight, [1, 1, 1, 1], 0);
  });

  it('says nothing where hidden states differ in size, and why', () => {
    const records = [spoken('g', 1, [-1, 1, 2]), spoken('g', 0, [-1, 1, 2, 3])];
    const outcome = runEstimator(delta, trajectoryBatch(records));
    expect(outcome).toMatchObject({
      credit: { values: Float64Array.of(NaN, NaN) },
      warnings: ['no credit on 2 of 2 token rows: hiddenState has 2 numbers on one token and 3 on another'],
    });
  });

  it('does not see tokens outside the mask', () => {
    const [first, second] = two();
    const turns = [{ tokens: { logprob: [-0.1, -1, null], hiddenState: [[1, 0], [1, 1], null], mask: [1, 1, 0] } }];
    const masked = [{ ...first, turns }, second];
    const plain = [...creditOf(delta, two()).values];
    expectNumbers(creditOf(delta, masked).values, [...plain.slice(0, 2), 0, ...plain.slice(2)], 1e-12);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expectNumbers(creditOf(delta, [spoken('g', 0.5, [-1, 1])]).values, [0.5]);
    expectNumbers(creditOf(delta, [spoken('g', 0.5, [-1, 1])], { singleton: 'zero' }).values, [0], 0);
  });
});
