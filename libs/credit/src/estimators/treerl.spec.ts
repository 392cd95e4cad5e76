import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE, withTurns } from '../tree-signals.fixture.js';
import { treerl } from './treerl.js';

describe('treerl', () => {
  it('pays own value and the gain over the step before', () => {
    const { turnAdvantage, columns } = estimateOf(treerl, TOY_TREE);
    expectNumbers(columns['nodeValue'], [-0.1283, 0, 0.6667, -0.1283, -0.6667, -0.1283, 0, -0.6667, 0.6667, 0.6667], 1e-4); // prettier-ignore
    expectNumbers(turnAdvantage, [-0.2566, 0.1283, 1.3333, -0.2566, -1.205, -0.2566, 0.1283, -1.3333, 1.3333, 1.3333], 1e-4); // prettier-ignore
  });

  it('has the published formula too', () => {
    const { turnAdvantage } = estimateOf(treerl, TOY_TREE, { variant: 'paper' });
    expectNumbers(turnAdvantage, [-0.1925, 0.1179, 1, -0.1925, -0.8333, -0.1925, 0.1179, -1, 1, 0.5], 1e-4);
  });

  it('weighs the nodes by their tokens, or alike, to centre them', () => {
    // two chains of one turn, 1 and 0: acc = ±1, counts 2 at the prompt; tokens 3 and 1: m = (3 − 1) / (3 + 1)
    const records = withTurns([branch('a', 1, 1), branch('b', 0, 1)], [[{ tokenCount: 3 }], [{ tokenCount: 1 }]]);
    const valueOf = (overallNorm: string) =>
      estimateOf(treerl, records, { overallNorm, weightStyle: 'none' }).columns['nodeValue'];
    expectNumbers(valueOf('token'), [0.5, -1.5], 1e-12);
    expectNumbers(valueOf('turn'), [1, -1], 1e-12);
  });

  it('takes gain, value, or the mean gain over all ancestors alone', () => {
    const of = (valueMode: string) => [...creditOf(treerl, TOY_TREE, { valueMode, weightStyle: 'none' }).values];
    // V: prompt 0, A -2/9, B 0, C 2/3, D and E -2/3, F and G 2/3
    expectNumbers(of('valueOnly').slice(0, 3), [-2 / 9, 0, 2 / 3], 1e-12);
    expectNumbers(of('advantageOnly').slice(0, 3), [-2 / 9, 2 / 9, 2 / 3], 1e-12);
    expectNumbers(of('allAncestors').slice(0, 3), [-2 / 9, 1 / 9, 2 / 3 + 2 / 27], 1e-12);
    // no gain is filled in there
    expectNumbers(of('allAncestors').slice(8), [2 / 3, 1 / 3], 1e-12);
    expectNumbers(of('advantageOnly').slice(8), [2 / 3, 2 / 3], 1e-12);
  });

  it('is silent on what is not selected, which counts all the same', () => {
    const records = TOY_TREE.map((record, i) => ({ ...record, signals: { selectedForTraining: i !== 2 } }));
    const { values, silent } = creditOf(treerl, records);
    expect([...values].map(Number.isNaN)).toEqual([false, false, false, false, false, true, true, true, false, false]);
    expect(silent?.rows).toBe(3);
    // A: -2/3 over √2 selected leaves over 3 leaves
    expectNumbers(values[0], [(2 * -2) / 9 / Math.sqrt(2)], 1e-9);
  });

  it('gives exactly 0 to a leaf alone and to leaves that agree', () => {
    for (const params of [{}, { variant: 'paper' }, { overallNorm: 'turn' }]) {
      expect([...creditOf(treerl, [branch('a', 0.7, 2)], params).values]).toEqual([0, 0]);
      const alike = TOY_TREE.map((record) => ({ ...record, outcomeReward: 0.1 }));
      expect([...creditOf(treerl, alike, params).values]).toEqual(Array(10).fill(0));
    }
  });

  it('does not see a shift of the rewards', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const shifted = records.map((record) => ({ ...record, outcomeReward: record.outcomeReward! + 2 }));
        expectNumbers(creditOf(treerl, shifted, { valueMode: 'valueOnly' }).values, creditOf(treerl, records, { valueMode: 'valueOnly' }).values, 1e-9); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });
});
