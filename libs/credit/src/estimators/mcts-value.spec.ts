import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE, withTurns } from '../tree-signals.fixture.js';
import { mctsValue } from './mcts-value.js';

describe('mcts-value', () => {
  it('backs up plus and minus one', () => {
    const { turnAdvantage, columns } = estimateOf(mctsValue, TOY_TREE);
    expectNumbers((columns['nodeValue'] as number[][])[0], [-1 / 3, 0, 1], 1e-12);
    expect((columns['nodeVisits'] as number[][])[0]).toEqual([3, 2, 1]);
    expect([columns['rootValue'], columns['rootVisits']]).toEqual([[0], [4]]);
    expectNumbers((turnAdvantage as number[][])[0], [-1 / 3, 1 / 3, 1], 1e-12);
  });

  it('counts an estimate of a node once, for it and all above', () => {
    // prompt: 1 - 1 + 0.5 + 0.25 over 4; A: the same
    const records = withTurns(
      [branch('a', 1, 2), branch('b', 0, 2, ['a', 0])],
      [[{ valueEstimateAfter: 0.5 }, { valueEstimateAfter: 0.25 }], [{ valueEstimateAfter: 0.5 }, { valueEstimateAfter: null }]], // prettier-ignore
    );
    const { columns } = estimateOf(mctsValue, records, { useValueEstimates: true });
    expect(columns['nodeVisits']).toEqual([[4, 2], [4, 1]]); // prettier-ignore
    expectNumbers(columns['nodeValue'], [0.1875, 0.625, 0.1875, -1], 1e-12);
  });

  it('discounts per turn on the way up', () => {
    const { columns } = estimateOf(mctsValue, TOY_TREE, { variant: 'discounted' });
    expectNumbers(columns['nodeValue'], [0.3267, 0.495, 1, 0.3267, 0, 0.3267, 0.495, 0, 0.99, 1]);
    expectNumbers(columns['rootValue'], [0.48759975], 1e-8);
  });

  it('lets the later result count more, in the order of the batch', () => {
    const { columns } = estimateOf(mctsValue, TOY_TREE, { variant: 'decay' });
    expect((columns['nodeValue'] as number[][])[0]).toEqual([0.5, 0.5, 1]);
    expect(columns['rootValue']).toEqual([0.8125]);
    const slow = estimateOf(mctsValue, TOY_TREE, { variant: 'decay', decay: 0.25 }).columns['nodeValue'] as number[][];
    // A after 1, 0 and 0: 1, then 0.75 · 1, then 0.75 · 0.75 + 0.25 · B, and B is 0.75 then
    expect(slow[0]).toEqual([0.75, 0.75, 1]);
    const backwards = estimateOf(mctsValue, TOY_TREE.toReversed(), { variant: 'decay' });
    expect(backwards.columns['rootValue']).toEqual([0.25]);
  });

  it('is the mean outcome below where nothing is discounted, and sums to the outcome along a chain', () => {
    const { values } = creditOf(mctsValue, TOY_TREE, { variant: 'discounted', gamma: 1 });
    expectNumbers(values.subarray(0, 3), [1 / 3 - 1 / 2, 1 / 6, 1 / 2], 1e-12);
  });

  it('does not care in which order results are backed up, but for decay', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const root = (order: typeof records) => estimateOf(mctsValue, order).columns['nodeVisits'] as unknown[];
        expect(root(records.toReversed()).toReversed()).toEqual(root(records));
      }),
      { numRuns: 30 },
    );
  });

  it('gives exactly 0 where all agree, undiscounted, and to a turn no result came through nothing', () => {
    const alike = TOY_TREE.map((record) => ({ ...record, success: true }));
    expect([...creditOf(mctsValue, alike).values]).toEqual(Array(10).fill(0));
    const { outcomeReward: _, success: __, ...cut } = { ...branch('cut', 0, 2, ['t0', 0]), signals: { truncated: true } }; // prettier-ignore
    const { values, silent } = creditOf(mctsValue, [...TOY_TREE, cut]);
    expect(values[11]).toBeNaN();
    expect(silent).toEqual({ rows: 1, why: 'never visited' });
  });
});
