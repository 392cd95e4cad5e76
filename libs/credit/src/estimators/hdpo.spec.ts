import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { hdpo } from './hdpo.js';

const used = (group: string, outcome: number, answerCorrect: boolean, toolCalls: number) => ({
  ...rollout(group, outcome),
  signals: { answerCorrect, toolCalls },
});

/** The example of the methods. */
const four = () => [used('g', 1, true, 0), used('g', 1, true, 2), used('g', 0.1, false, 1), used('g', 1, true, 4)];
const groups = fc
  .array(fc.tuple(fc.boolean(), fc.nat({ max: 5 })), { minLength: 1, maxLength: 6 })
  .map((drawn) => drawn.map(([isRight, calls]) => used('g', isRight ? 1 : 0.1, isRight, calls)));

describe('hdpo', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(hdpo, four());
    expectNumbers(columns.toolReward, [1, 1 / 3, 0, 0.2], 1e-12);
    expectNumbers(columns.toolAdvantage, [1.140644, -0.41478, 0, -0.725864]);
    expectNumbers(trajectoryAdvantage, [0.671096, 0.437782, -1.499997, 0.391119]);
  });

  it('is the group advantage where tools weigh nothing', () => {
    fc.assert(
      fc.property(groups, (records) => {
        expectNumbers(creditOf(hdpo, records, { toolWeight: 0 }).values, creditOf(grpo, records).values, 1e-12);
      }),
    );
  });

  it('compares economy among right answers only, and sums to zero there', () => {
    fc.assert(
      fc.property(groups, fc.boolean(), (records, normalizeByStd) => {
        const tool = estimateOf(hdpo, records, { normalizeByStd }).columns.toolAdvantage as number[];
        expect(tool.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        records.forEach(({ signals }, i) => signals.answerCorrect || expect(tool[i]).toBe(0));
      }),
    );
  });

  it('gives a single right answer nothing for economy, and equal counts exactly 0', () => {
    const single = [used('g', 1, true, 0), used('g', 0.1, false, 0), used('g', 0.1, false, 5)];
    expect(estimateOf(hdpo, single).columns.toolAdvantage).toEqual([0, 0, 0]);
    const equal = [used('g', 1, true, 2), used('g', 1, true, 2)];
    expect([...creditOf(hdpo, equal).values]).toEqual([0, 0]);
  });

  it('prefers fewer calls', () => {
    const [none, one, many] = creditOf(hdpo, [
      used('g', 1, true, 0),
      used('g', 1, true, 1),
      used('g', 1, true, 9),
    ]).values;
    expect(none).toBeGreaterThan(one);
    expect(one).toBeGreaterThan(many);
  });

  it('keeps the reward of a group of one, or withholds it', () => {
    expectNumbers(creditOf(hdpo, [used('g', 0.5, true, 0)]).values, [0.5]);
    expectNumbers(creditOf(hdpo, [used('g', 0.5, true, 0)], { singleton: 'zero' }).values, [0], 0);
  });
});
