import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE } from '../tree-signals.fixture.js';
import { spoTree } from './spo-tree.js';

describe('spo-tree', () => {
  it('takes the mean of the direct children, whatever leaves they have', () => {
    const { turnAdvantage, columns } = estimateOf(spoTree, TOY_TREE);
    expect(columns['rootValue']).toEqual([0.625]);
    expect(columns['nodeValue']).toEqual([[0.25, 0.5, 1], [0.25, 0], [0.25, 0.5, 0], [1, 1]]); // prettier-ignore
    expect(turnAdvantage).toEqual([[-0.375, 0.25, 0.5], [-0.375, -0.25], [-0.375, 0.25, -0.5], [0.375, 0]]); // prettier-ignore
  });

  it('divides by the spread among the siblings', () => {
    const { turnAdvantage } = estimateOf(spoTree, TOY_TREE, { baseline: 'grpo', epsilon: 0 });
    expectNumbers(turnAdvantage, [-1, 1, 1, -1, -1, -1, 1, -1, 1, 0], 1e-12);
  });

  it('has a prover part, an edge is trained unless it cancels, and its sum can be the credit', () => {
    const { columns } = estimateOf(spoTree, TOY_TREE);
    const b = (v: number) => 1 - (1 - v) ** 4;
    const prover = columns['turnProverAdvantage'] as number[][];
    expectNumbers(prover[0], [b(0.25) - b(0.625), b(0.5) - b(0.25), 1 - b(0.5)], 1e-12);
    expect(columns['turnTrained']).toEqual([[1, 1, 1], [1, 1], [1, 1, 1], [1, 0]]); // prettier-ignore
    const all = estimateOf(spoTree, TOY_TREE, { onlyNonZero: false, usePav: true });
    expect((all.columns['turnTrained'] as number[][])[3]).toEqual([1, 1]);
    expectNumbers((all.turnAdvantage as number[][])[0], [0.25 + 5 * prover[0][0], 0.5 + 5 * prover[0][1], 1 + 5 * prover[0][2]], 1e-12); // prettier-ignore
  });

  it('counts a trajectory that ended at an inner node as a child of it', () => {
    const records = [branch('a', 0, 1), branch('b', 1, 2, ['a', 0])];
    expect(estimateOf(spoTree, records).turnAdvantage).toEqual([[0], [0, 0.5]]);
    expectNumbers(estimateOf(spoTree, records, { baseline: 'grpo', epsilon: 0 }).turnAdvantage, [0, 0, 1], 1e-12);
  });

  it('gives exactly 0 to a chain, and where all agree', () => {
    expect([...creditOf(spoTree, [branch('a', 0.7, 3)], { baseline: 'grpo' }).values]).toEqual([0, 0, 0]);
    const alike = TOY_TREE.map((record) => ({ ...record, outcomeReward: 0.1 }));
    expect([...creditOf(spoTree, alike, { baseline: 'grpo' }).values]).toEqual(Array(10).fill(0));
  });

  it('adds up along a path to the outcome less the value of the prompt', () => {
    fc.assert(
      fc.property(batches, (records) => {
        // a trajectory that others branch off ends at an inner node
        const trunks = new Set(records.map(({ parent }) => parent?.trajectory));
        const { turnAdvantage, columns, groups } = estimateOf(spoTree, records);
        records.forEach(({ id, group, outcomeReward, turns }, i) => {
          if (trunks.has(id) || turns.length === 0 || turns.length <= (records[i].parent?.turn ?? -1) + 1) return;
          const sum = (turnAdvantage as number[][])[i].reduce((total, a) => total + a, 0);
          expect(sum).toBeCloseTo(outcomeReward! - (columns['rootValue'] as number[])[groups.indexOf(group)], 9);
        });
      }),
    );
  });
});
