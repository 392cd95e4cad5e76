import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { istar } from './istar.js';
import { rloo } from './rloo.js';

/** A turn whose tokens differ by so much between the two models; β = 1 makes that its step reward. */
const stepped = (outcome: number, ...steps: number[]) =>
  rollout('g', outcome, steps.map((s) => ({ tokens: { prmLogprob: [s, 0], logprob: [0, 0] } }))); // prettier-ignore
const two = [stepped(10, 0.5, -0.1), stepped(0, -0.3, 0.2)];
const whole = { processNormalization: 'none', beta: 1 };

describe('istar', () => {
  it('adds the comparison of the step to that of the outcome', () => {
    const { turnAdvantage, columns } = estimateOf(istar, two, { beta: 0.05 });
    expectNumbers(columns['turnProcessReward'], [1, -0.2, -0.6, 0.4], 1e-4);
    expectNumbers(turnAdvantage, [11.6, 9.2, -11.6, -9.6], 1e-3);
    expectNumbers(columns['preferenceLoss'], [0.68692], 1e-5);
  });

  it('takes its baseline from first turns, or from all', () => {
    const step = (params: object) => estimateOf(istar, two, { ...whole, ...params }).columns['stepAdvantage'];
    expectNumbers(step({}), [0.8, -0.4, -0.8, 0.2]);
    // mean of all four 0.075, times 4/3
    expectNumbers(
      step({ stepBaseline: 'allTurns' }),
      [0.425, -0.175, -0.375, 0.125].map((x) => (x * 4) / 3),
    );
    expectNumbers(step({ baseline: 'grpo' }), [0.4, -0.2, -0.4, 0.1]);
    expectNumbers(step({ baseline: 'grpo', normalizeByStd: true }), [0.4, -0.2, -0.4, 0.1].map((x) => x / (Math.sqrt(0.32) + 1e-6))); // prettier-ignore
  });

  it('whitens each part over all tokens', () => {
    const { columns } = estimateOf(istar, two, { ...whole, baseline: 'reinforcePlusPlusBaseline' });
    // ±5 on four tokens each: var 200 / 7
    expectNumbers(
      columns['episodeAdvantage'],
      [5, 5, -5, -5].map((x) => x / Math.sqrt(200 / 7)),
    );
  });

  it('can add before it compares, or take the step part alone', () => {
    const combined = estimateOf(istar, two, { ...whole, baseline: 'processOutcomeCombined' });
    // first turns 10.5 and -0.3: mean 5.1, times 2
    expectNumbers(combined.turnAdvantage, [10.8, 9.6, -10.8, -9.8]);
    expect(combined.columns).not.toHaveProperty('stepAdvantage');
    const only = estimateOf(istar, two, { ...whole, useProcessOnly: true });
    expectNumbers(only.turnAdvantage, only.columns['stepAdvantage'], 0);
  });

  it('passes a group of one through raw, or gives it 0', () => {
    expectNumbers(creditOf(istar, [stepped(10, 0.5, -0.1)], whole).values, [10.5, 9.9]);
    expect([...creditOf(istar, [stepped(10, 0.5, -0.1)], { ...whole, singleton: 'zero' }).values]).toEqual([0, 0]);
  });

  it('gives exactly 0 where outcomes and first steps agree', () => {
    const alike = [stepped(0.7, 0.1), stepped(0.7, 0.1), stepped(0.7, 0.1)];
    for (const baseline of ['rloo', 'grpo', 'reinforcePlusPlusBaseline', 'processOutcomeCombined']) {
      expect([...creditOf(istar, alike, { baseline, normalizeByStd: true }).values]).toEqual([0, 0, 0]);
    }
    expectNumbers(estimateOf(istar, alike).columns['preferenceLoss'], [0], 0);
  });

  it('reduces to RLOO without the steps', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const spoken = records.filter(({ turns }) => turns.length > 0);
        expectNumbers(estimateOf(istar, spoken, { stepAdvantageWeight: 0 }).turnAdvantage, estimateOf(rloo, spoken).turnAdvantage, 1e-12); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });
});
