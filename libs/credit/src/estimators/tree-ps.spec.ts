import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE } from '../tree-signals.fixture.js';
import { treePs } from './tree-ps.js';
import { treerl } from './treerl.js';

describe('tree-ps', () => {
  it('adds the gain over the step before and over the prompt', () => {
    const { turnAdvantage, columns } = estimateOf(treePs, TOY_TREE);
    expectNumbers(turnAdvantage, [-1 / 3, 1 / 6, 1, -1 / 3, -5 / 6, -1 / 3, 1 / 6, -1, 1, 0.5], 1e-12);
    expect(columns['leafCount']).toEqual([[3, 2, 1], [3, 1], [3, 2, 1], [1, 1]]); // prettier-ignore
    const local = creditOf(treePs, TOY_TREE, { globalWeight: 0 }).values;
    expectNumbers(local.subarray(0, 3), [-1 / 6, 1 / 6, 0.5], 1e-12);
  });

  it('is the published TreeRL where it is damped by the root of the leaves', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const selected = records.map((record) => ({
          ...record,
          signals: { ...record.signals, selectedForTraining: true },
        }));
        expectNumbers(creditOf(treePs, selected, { leafScale: 'sqrt' }).values, creditOf(treerl, selected, { variant: 'paper' }).values, 1e-12); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });

  it('gives a chain all on its first turn, and a group of one and of equals exactly 0', () => {
    expect([...creditOf(treePs, [branch('a', 1, 3), branch('b', 0, 1)], { globalWeight: 0 }).values]).toEqual([0.5, 0, 0, -0.5]); // prettier-ignore
    expect([...creditOf(treePs, [branch('a', 0.7, 3)]).values]).toEqual([0, 0, 0]);
    expect([...creditOf(treePs, TOY_TREE.map((record) => ({ ...record, outcomeReward: 0.1 }))).values]).toEqual(Array(10).fill(0)); // prettier-ignore
  });
});
