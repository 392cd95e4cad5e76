import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { empg } from './empg.js';
import { grpo } from './grpo.js';

/** A rollout of turns whose tokens have these entropies. */
const unsure = (group: string, outcome: number, ...entropies: number[][]) =>
  rollout(group, outcome, entropies.map((entropy) => ({ tokens: { entropy } }))); // prettier-ignore

/** The example of the methods. */
const two = () => [unsure('g', 1, [0.2, 0.4], [1]), unsure('g', 0, [0.1], [0.5, 0.7], [1.2])];

const entropies = fc.array(fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
});
const batch = fc
  .array(fc.tuple(fc.constantFrom('g', 'h'), fc.integer({ min: -2, max: 2 }), entropies), {
    minLength: 1,
    maxLength: 5,
  })
  .map((drawn) => drawn.map(([group, outcome, values]) => unsure(group, outcome, ...values)));

describe('empg', () => {
  it('gives the numbers of its page', () => {
    const estimate = estimateOf(empg, two());
    expectNumbers(estimate.columns.turnEntropy, [0.3, 1, 0.1, 0.6, 1.2]);
    expectNumbers(estimate.columns.entropyScale, [1.271895, 0.673104, 1.525506, 0.968294, 0.561202]);
    const r = 0.7071058;
    expectNumbers(estimate.columns.baseTurnAdvantage, [r, r, -r, -r, -r]);
    expectNumbers(estimate.turnAdvantage, [1.063965, 0.618495, -0.904418, -0.523753, -0.25429]);
    const acrossTurns = [1.420995, 0.742992, -1.076688, -0.683101, -0.404198];
    expectNumbers(creditOf(empg, two(), { statsAcross: 'turns' }).values, acrossTurns);
  });

  it('scales by 1 on the mean', () => {
    fc.assert(
      fc.property(batch, fc.integer({ min: 0, max: 3 }), (records, entropyDecay) => {
        const scale = flat(estimateOf(empg, records, { entropyDecay }).columns.entropyScale);
        expect(scale.reduce((sum, g) => sum + g, 0) / scale.length).toBeCloseTo(1, 6);
      }),
    );
  });

  it('sums to zero over the batch', () => {
    fc.assert(
      fc.property(batch, (records) => {
        expect(creditOf(empg, records).values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
      }),
    );
  });

  it('without decay and bonus is the group advantage, centred over the turns of the batch', () => {
    fc.assert(
      fc.property(batch, (records) => {
        const base = flat(estimateOf(grpo, records).turnAdvantage);
        const mean = base.reduce((sum, a) => sum + a, 0) / base.length;
        const { values } = creditOf(empg, records, { entropyDecay: 0, bonusWeight: 0 });
        expectNumbers(values, base.map((a) => a - mean), 1e-6); // prettier-ignore
      }),
    );
  });

  it('gives exactly 0 where outcomes agree and there is no bonus', () => {
    const equal = [unsure('g', 0.3, [1], [2]), unsure('g', 0.1 + 0.2, [3])];
    expect([...creditOf(empg, equal, { bonusWeight: 0 }).values].map(Math.abs)).toEqual([0, 0, 0]);
  });

  it('sees no difference in entropies that differ by rounding', () => {
    const records = [unsure('g', 1, [0.1, 0.1, 0.1]), unsure('g', 0, [0.1])];
    expect(estimateOf(empg, records).columns.entropyScale).toEqual([[1 / (1 + 1e-8)], [1 / (1 + 1e-8)]]);
  });

  it('leaves tokens outside the mask out of the entropy', () => {
    const masked = [rollout('g', 1, [{ tokens: { entropy: [0.5, 9], mask: [1, 0] } }]), unsure('g', 0, [1])];
    expect(estimateOf(empg, masked).columns.turnEntropy).toEqual([[0.5], [1]]);
  });

  it('does not modulate a turn without a token, and gives no bonus for reaching one', () => {
    const silent = rollout('g', 1, [{ tokens: { entropy: [0] } }, {}]);
    const estimate = estimateOf(empg, [silent, unsure('g', 0, [2])], { bonusWeight: 1 });
    expect(estimate.columns.turnEntropy).toEqual([[0, null], [2]]);
    expect((estimate.columns.entropyScale as number[][])[0][1]).toBe(1);
    const [first] = estimate.turnAdvantage as number[][];
    expect(first[0] / first[1]).not.toBeCloseTo(1);
    const scale = flat([(estimate.columns.entropyScale as number[][])[0][0]])[0];
    expect(first[0] - first[1]).toBeCloseTo((Math.SQRT1_2 / (1 + 1e-6)) * (scale - 1), 5);
  });

  it('withholds credit from a group of one on request', () => {
    const alone = [unsure('h', 5, [1], [2]), unsure('g', 1, [1]), unsure('g', 1, [2])];
    expect(flat(estimateOf(empg, alone).columns.baseTurnAdvantage)[0]).toBeCloseTo(5, 4);
    expect(flat(estimateOf(empg, alone, { singleton: 'zero' }).columns.baseTurnAdvantage)).toEqual([0, 0, 0, 0]);
  });
});
