import * as fc from 'fast-check';
import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { primeRloo } from './prime-rloo.js';

const said = (group: string, outcome: number, ...turns: number[][]) =>
  rollout(group, outcome, turns.map((q) => ({ tokens: { prmLogprob: q, refLogprob: q.map(() => 0) } }))); // prettier-ignore
const two = [said('g', 1, [0.4, 0.1]), said('g', 0, [-0.2], [-0.1, 0.2])];

describe('prime-rloo', () => {
  it('compares process and outcome with the others, sums to the end and whitens', () => {
    const { tokenAdvantage, columns } = estimateOf(primeRloo, two, { groupSize: 2 });
    expectNumbers(tokenAdvantage, [1.288, 0.6805, -1.229, -0.5867, -0.1528], 1e-4);
    expectNumbers(columns['prmLoss'], [0.6857], 1e-4);
    // reverse sums 0.5, 0.1, -0.1, 0.1, 0.2: divided by 0.5
    expectNumbers(columns['tokenProcessReward'], [0.8, 0.2, -0.4, -0.2, 0.4], 1e-5);
  });

  it("has verl's recipe", () => {
    const { tokenAdvantage, columns } = estimateOf(primeRloo, two, { variant: 'verlRecipe' });
    expectNumbers(tokenAdvantage, [1.3805, 0.6136, -1.1395, -0.5917, -0.263], 1e-4);
    expectNumbers(columns['tokenProcessReward'], [1, 0, -0.5, -0.25, 0], 1e-4);
  });

  it('can put the whole process reward on the last token, and discount each part', () => {
    const whole = estimateOf(primeRloo, two, { granularity: 'trajectory', processNormalization: 'none' });
    expectNumbers(whole.columns['tokenProcessReward'], [0, 0.5, 0, 0, -0.1]);
    const { columns } = estimateOf(primeRloo, two, { processNormalization: 'none', processGamma: 0, outcomeGamma: 0 });
    // y = 2 x − (0.25 − 1/30); the outcome ±1 on the last tokens
    const c = 0.25 - 0.1 / 3;
    expectNumbers(columns['tokenReturn'], [0.8 - c, 0.2 - c + 1, -0.4 - c, -0.2 - c, 0.4 - c - 1]);
  });

  it('gives a group of one nothing to sum, and says so; other sizes than groupSize too', () => {
    const outcome = runEstimator(primeRloo, trajectoryBatch([...two, said('h', 1, [0.3])]));
    if (outcome.kind !== 'credit') throw new TypeError('credit was wanted');
    const { tokenReturn } = outcome.credit.explain!;
    expect(tokenReturn.values[5]).toBe(0);
    expect(outcome.warnings).toContain('groups of one trajectory, for which the reference is not defined: 1, which got 0'); // prettier-ignore
    expect(outcome.warnings).toContain('groups of another size than groupSize 4: 2 of 2');
  });

  it('gives exactly 0 where neither model nor outcome tells anything apart', () => {
    expect([...creditOf(primeRloo, [said('g', 0.1, [0, 0]), said('g', 0.1, [0]), said('g', 0.1, [0])]).values]).toEqual([0, 0, 0, 0]); // prettier-ignore
  });

  it('sums to 0 over the generated tokens of the batch', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const generated = records.flatMap(({ turns }) => turns.flatMap(({ tokens }) => tokens!['mask'] as number[]));
        fc.pre(generated.filter((is) => is === 1).length > 1); // one alone is not whitened
        expect(creditOf(primeRloo, records).values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 6);
      }),
      { numRuns: 30 },
    );
  });
});
