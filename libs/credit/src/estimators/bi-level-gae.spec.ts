import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { biLevelGae } from './bi-level-gae.js';
import { gae } from './gae.js';
import { turnWiseGae } from './turn-wise-gae.js';

const EXAMPLE = [
  rollout('g', 1, [
    { tokens: { reward: [0, 0.5, 0], value: [0.2, 0.4, 0], mask: [1, 1, 0] } },
    { tokens: { reward: [0, 1], value: [0.6, 0.8], mask: [1, 1] } },
  ]),
];
const RAW = { gamma: 1, turnGamma: 0.9, lambda: 0.5, whiten: false };

const small = fc.integer({ min: -9, max: 9 });
const tokens = fc
  .array(fc.tuple(small, small, fc.constantFrom(1, 1, 1, 0)), { minLength: 1, maxLength: 4 })
  .map((rows) => ({ reward: rows.map(([r]) => r), value: rows.map(([, v]) => v), mask: rows.map(([, , m]) => m) }));
const records = fc
  .array(fc.array(tokens, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
  .map((each) => each.map((turns) => rollout('g', 0, turns.map((own) => ({ tokens: own }))))); // prettier-ignore
const rewardedAtTheEnd = ({ tokens }: (typeof EXAMPLE)[0]['turns'][0]) => {
  const end = (tokens!.mask as number[]).lastIndexOf(1);
  return { tokens: { ...tokens, reward: (tokens!.reward as number[]).map((reward, k) => (k === end ? reward : 0)) } };
};
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('bi-level-gae', () => {
  it('gives the numbers of its page', () => {
    // turns 0.91 and 0.2; inside turn 0: 0.4 − 0.2 + 0.5 · 0.91 = 0.655, inside turn 1: 0.8 − 0.6 + 0.5 · 0.2 = 0.3
    const { tokenAdvantage, columns } = estimateOf(biLevelGae, EXAMPLE, RAW);
    expectNumbers(tokenAdvantage, [0.655, 0.91, 0, 0.3, 0.2]);
    expectNumbers(columns.tokenReturn, [0.855, 1.31, 0, 0.9, 1]);
    expectNumbers(columns.turnReturn, [1.31, 1]);
  });

  it('gives the last generated token of a turn the advantage of the turn', () => {
    fc.assert(
      fc.property(records, share, share, (batch, turnGamma, lambda) => {
        const { tokenAdvantage } = estimateOf(biLevelGae, batch, { gamma: 0.7, turnGamma, lambda, whiten: false });
        const perTurn = creditOf(turnWiseGae, batch, { turnGamma, lambda, whiten: false }).values;
        const ends = batch.flatMap(({ turns }, i) =>
          turns.map(({ tokens }, t) => {
            const end = (tokens!.mask as number[]).lastIndexOf(1);
            return end < 0 ? 0 : (tokenAdvantage as number[][][])[i][t][end];
          }),
        );
        expectNumbers(ends, perTurn, 1e-9);
      }),
    );
  });

  it('is plain GAE over tokens without discounts and with lambda 1, where only turn ends are rewarded', () => {
    fc.assert(
      fc.property(records, (all) => {
        const params = { gamma: 1, lambda: 1 };
        const batch = all.map((record) => ({ ...record, turns: record.turns.map(rewardedAtTheEnd) }));
        expectNumbers(creditOf(biLevelGae, batch, { ...params, turnGamma: 1 }).values, creditOf(gae, batch, params).values, 1e-9); // prettier-ignore
      }),
    );
  });

  it('lets turns tell each other no more than their end', () => {
    const before = estimateOf(biLevelGae, EXAMPLE, RAW);
    const [first, second] = EXAMPLE[0].turns;
    const louder = { tokens: { ...second.tokens, value: [9, 0.8] } };
    const after = estimateOf(biLevelGae, [rollout('g', 1, [first, louder])], RAW);
    expectNumbers(flat(after.tokenAdvantage).slice(0, 3), flat(before.tokenAdvantage).slice(0, 3), 0);
    expectNumbers(flat(after.tokenAdvantage).slice(3), [0.8 - 9 + 0.1, 0.2]);
  });

  it('whitened, has mean 0 and variance 1 over the generated tokens; all equal is exactly 0', () => {
    fc.assert(
      fc.property(records, (batch) => {
        const { values } = creditOf(biLevelGae, batch, { whitenEpsilon: 0 });
        const generated = batch.flatMap(({ turns }) => turns.flatMap(({ tokens }) => tokens!.mask as number[]));
        const count = generated.filter((mask) => mask === 1).length;
        if (count < 2) return;
        expect(values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 7);
        const squares = values.reduce((sum, a) => sum + a * a, 0);
        if (squares > 0) expect(squares / (count - 1)).toBeCloseTo(1, 7);
      }),
    );
    const same = ['g', 'h', 'k'].map((group) => rollout(group, 0, [{ tokens: { reward: [0.3], value: [0.1] } }]));
    expect([...creditOf(biLevelGae, same).values]).toEqual([0, 0, 0]);
  });

  it('leaves a single token as it is and says so', () => {
    const { warnings } = estimateOf(biLevelGae, [rollout('g', 1, [{ tokens: { reward: [1], value: [0.25] } }])]);
    expect(warnings).toEqual(['not whitened: one of the tokens is all there is']);
  });
});
