import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { branch, TOY_TREE, withTurns } from '../tree-signals.fixture.js';
import { stepQ } from './step-q.js';
import { treePs } from './tree-ps.js';

describe('step-q', () => {
  it('is the gain over the step before, which is tree-ps without its global part', () => {
    fc.assert(
      fc.property(batches, (records) => {
        expectNumbers(creditOf(stepQ, records).values, creditOf(treePs, records, { globalWeight: 0 }).values, 1e-12);
      }),
      { numRuns: 30 },
    );
  });

  it('pairs the best with the worst, or with all the rest', () => {
    const pairs = (records: Parameters<typeof estimateOf>[1], params = {}) => {
      const { columns } = estimateOf(stepQ, records, params);
      return [columns['chosen'], columns['rejected'], columns['pairGap']];
    };
    expect(pairs(TOY_TREE)).toEqual([['t3:0', 't0:1', 't0:2'], ['t0:0', 't1:1', 't2:2'], [expect.closeTo(2 / 3, 12), 0.5, 1]]); // prettier-ignore
    const three = [branch('a', 1, 1), branch('b', 0.5, 1), branch('c', 0, 1)];
    expect(pairs(three)).toEqual([['a:0'], ['c:0'], [1]]);
    expect(pairs(three, { pairRule: 'bestVsRest' })).toEqual([
      ['a:0', 'a:0'],
      ['b:0', 'c:0'],
      [0.5, 1],
    ]);
    expect(pairs(three, { minGap: 1.5 })).toEqual([[], [], []]);
  });

  it('weighs a stored Q by how often each turn was taken', () => {
    // A was taken by three of four, F by one: mean (3 · 0.2 + 1) / 4 = 0.4
    const q = [
      [{ qValue: 0.2 }, {}, {}],
      [{ qValue: 0.2 }, {}],
      [{ qValue: 0.2 }, {}, {}],
      [{ qValue: 1 }, {}],
    ];
    const records = withTurns(TOY_TREE, q.map((turns) => turns.map((each) => ({ qValue: 0, ...each })))); // prettier-ignore
    const values = estimateOf(stepQ, records, { source: 'signal' }).turnAdvantage as number[][];
    expectNumbers([values[0][0], values[3][0]], [-0.2, 0.6], 1e-12);
    expectNumbers(values[0].slice(1), [0, 0], 0);
  });

  it('shows the implicit Q of what is logged, and how well it orders the pairs', () => {
    const spoken = [branch('a', 1, 1), branch('b', 0, 1)].map((record, i) => ({
      ...record,
      turns: [{ tokens: { logprob: [-1], refLogprob: [[-2], [-1]][i] } }],
    }));
    const { columns } = estimateOf(stepQ, spoken);
    expectNumbers(columns['implicitQ'], [0.1, 0]);
    expectNumbers(columns['pairLoss'], [Math.log(1 + Math.exp(-0.1))]);
    expect(estimateOf(stepQ, TOY_TREE).columns).not.toHaveProperty('implicitQ');
  });

  it('gives exactly 0 where all agree', () => {
    expect([...creditOf(stepQ, TOY_TREE.map((record) => ({ ...record, outcomeReward: 0.7 }))).values]).toEqual(Array(10).fill(0)); // prettier-ignore
  });
});
