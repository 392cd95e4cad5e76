import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { tpGrpo } from './tp-grpo.js';

/** A rollout of marked turns: 1 right, 0 wrong, -1 wrong and agreeing with the wrong answer. */
const marked = (success: boolean, ...marks: number[]) => ({
  ...rollout('g', 0, marks.map((mark) => ({ signals: { stepCorrect: mark === 1, alignedWithWrongAnswer: mark === -1 } }))), // prettier-ignore
  success,
});

/** The example of the methods. */
const two = () => [marked(true, 0, 1, 1, 0, 1), marked(false, 1, 0, -1)];
const batch = fc
  .array(fc.tuple(fc.boolean(), fc.array(fc.constantFrom(-1, 0, 1), { minLength: 1, maxLength: 5 })), {
    minLength: 1,
    maxLength: 5,
  }) // prettier-ignore
  .map((drawn) => drawn.map(([success, marks]) => marked(success, ...marks)));

describe('tp-grpo', () => {
  it('gives the numbers of its page', () => {
    const { columns } = estimateOf(tpGrpo, two());
    expect(columns.thought).toEqual([[0, 1, 1, 2, 3], [0, 1, 1]]); // prettier-ignore
    expect(columns.thoughtReward).toEqual([[0, 0.5, 0.5, 0, 0.5], [0.5, -1, -1]]); // prettier-ignore
    expect(columns.thoughtReturn).toEqual([[1, 1, 1, 0.5, 0.5], [-0.5, -1, -1]]); // prettier-ignore
    expectNumbers(creditOf(tpGrpo, two()).values.subarray(0, 1), [1.7071058]);
  });

  it('is what is still to come where the outcome weighs nothing', () => {
    fc.assert(
      fc.property(batch, (records) => {
        const { values } = creditOf(tpGrpo, records, { outcomeWeight: 0 });
        expectNumbers(values, flat(estimateOf(tpGrpo, records).columns.thoughtReturn), 0);
      }),
    );
  });

  it('gives all turns of a thought the same', () => {
    fc.assert(
      fc.property(batch, (records) => {
        const { columns, turnAdvantage } = estimateOf(tpGrpo, records);
        (columns.thought as number[][]).forEach((thoughts, i) => {
          const credit = (turnAdvantage as number[][])[i];
          thoughts.forEach(
            (thought, t) => t > 0 && thought === thoughts[t - 1] && expect(credit[t]).toBe(credit[t - 1]),
          );
        });
      }),
    );
  });

  it('pays right thoughts by the ability, which is none where nothing succeeded', () => {
    expect([...creditOf(tpGrpo, [marked(false, 1, 1), marked(false, 1, 0)]).values]).toEqual([0, 0, 0, 0]);
    expectNumbers(creditOf(tpGrpo, [marked(true, 1), marked(true, 0)], { correctReward: 2 }).values, [2, 0], 1e-12);
  });

  it('does not punish what is wrong in a success', () => {
    expect(flat(estimateOf(tpGrpo, [marked(true, -1, 0)]).columns.thoughtReward)).toEqual([0, 0]);
  });

  it('warns where nobody said whether a wrong turn agrees with the wrong answer', () => {
    const record = { ...marked(false, 0), turns: [{ signals: { stepCorrect: 0 } }, { signals: { stepCorrect: 1 } }] };
    const outcome = runEstimator(tpGrpo, trajectoryBatch([record]));
    const warning = 'wrong turns of failures without alignedWithWrongAnswer, taken for not aligned: 1';
    expect(outcome).toMatchObject({ warnings: [warning] });
  });

  it('keeps the success of a group of one, or withholds it', () => {
    expectNumbers(creditOf(tpGrpo, [marked(true, 0)]).values, [1], 1e-5);
    expectNumbers(creditOf(tpGrpo, [marked(true, 0)], { singleton: 'zero' }).values, [0], 0);
  });
});
