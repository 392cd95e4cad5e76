import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { trajectoryBatch } from '#lib/dataset';
import { branch, TOY_TREE } from '../tree-signals.fixture.js';
import { grpo } from './grpo.js';
import { treeGrpo } from './tree-grpo.js';

describe('tree-grpo', () => {
  it('adds the comparison in the tree to that in the group', () => {
    const { trajectoryAdvantage, columns } = estimateOf(treeGrpo, TOY_TREE);
    expectNumbers(columns['interAdvantage'], [0.866, -0.866, -0.866, 0.866], 1e-4);
    expectNumbers(columns['intraAdvantage'], [1.1547, -0.5773, -0.5773, 1], 1e-4);
    expectNumbers(trajectoryAdvantage, [2.0207, -1.4434, -1.4434, 1.866], 1e-4);
  });

  it('nests them, or takes one alone', () => {
    const of = (variant: string) => creditOf(treeGrpo, TOY_TREE, { variant, epsilon: 0 }).values;
    expectNumbers(of('interOnly'), creditOf(grpo, TOY_TREE, { epsilon: 0 }).values, 1e-12);
    expectNumbers(of('intraOnly'), [2 / Math.sqrt(3), -1 / Math.sqrt(3), -1 / Math.sqrt(3), 1], 1e-12);
    // (√3/2) · (1, -1, -1) has mean -√3/6 and std 1; the tree of one leaf keeps √3/2
    expectNumbers(of('nested'), [1.1547005, -0.5773503, -0.5773503, 0.8660254]);
  });

  it('gives a tree of one leaf 0 where told to', () => {
    expectNumbers(creditOf(treeGrpo, [branch('a', 1, 1)]).values, [2 / (1 + 1e-6)], 1e-12);
    expect([...creditOf(treeGrpo, [branch('a', 1, 1)], { singleton: 'zero' }).values]).toEqual([0]);
  });

  it('counts a branch at the prompt to the tree of its parent', () => {
    const intra = (records: ReturnType<typeof branch>[]) => estimateOf(treeGrpo, records).columns['intraAdvantage'];
    expectNumbers(intra([branch('a', 1, 1), branch('b', 0, 1, ['a', -1])]), [Math.SQRT1_2, -Math.SQRT1_2], 1e-4);
    expectNumbers(intra([branch('a', 1, 1), branch('b', 0, 1)]), [1, 0], 1e-4);
  });

  it('says nothing of what was cut off, and counts it nowhere', () => {
    const { outcomeReward: _, ...cut } = { ...branch('cut', 0, 2, ['t0', 0]), signals: { truncated: true } };
    const outcome = runEstimator(treeGrpo, trajectoryBatch([...TOY_TREE, cut]));
    if (outcome.kind !== 'credit') throw new TypeError('credit was wanted');
    expectNumbers(outcome.credit.values.subarray(0, 4), creditOf(treeGrpo, TOY_TREE).values, 1e-12);
    expect(outcome.credit.values[4]).toBeNaN();
    expect(outcome.warnings).toEqual(['no credit on 1 of 5 trajectory rows: cut off without an outcome']);
    expect(runEstimator(treeGrpo, trajectoryBatch([{ ...cut, signals: {} }]))).toMatchObject({
      missing: [{ path: 'trajectory.outcomeReward', rows: 1, of: 1 }],
    });
  });

  it('gives exactly 0 where trees agree, and moves with no shift of the rewards where no tree is alone', () => {
    const alike = [branch('a', 0.7, 1), branch('b', 0.7, 2, ['a', 0]), branch('c', 0.7, 1), branch('d', 0.7, 2, ['c', 0])]; // prettier-ignore
    expect([...creditOf(treeGrpo, alike).values]).toEqual([0, 0, 0, 0]);
    const pairs = fc.array(fc.tuple(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -4, max: 4 })), { minLength: 1, maxLength: 4 }); // prettier-ignore
    const records = (rewards: number[][], shift: number) =>
      rewards.flatMap(([a, b], i) => [branch(`${i}`, a + shift, 1), branch(`${i}b`, b + shift, 2, [`${i}`, 0])]);
    fc.assert(
      fc.property(pairs, (rewards) => {
        expectNumbers(creditOf(treeGrpo, records(rewards, 8)).values, creditOf(treeGrpo, records(rewards, 0)).values, 1e-9); // prettier-ignore
      }),
    );
  });

  it('reduces to GRPO whatever the parents say', () => {
    fc.assert(
      fc.property(batches, (records) => {
        expectNumbers(creditOf(treeGrpo, records, { variant: 'interOnly' }).values, creditOf(grpo, records).values, 1e-12); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });
});
