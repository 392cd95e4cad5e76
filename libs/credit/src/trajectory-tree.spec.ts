import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gains, nodeMeans, onTurns, promptOf, trajectoryTree } from './trajectory-tree.js';
import { branch, TOY_TREE } from './tree-signals.fixture.js';

const treeOf = (records: ReturnType<typeof branch>[]) => trajectoryTree(trajectoryBatch(records));
const paths = (records: ReturnType<typeof branch>[]) => {
  const batch = trajectoryBatch(records);
  const { nodeOf } = trajectoryTree(batch);
  return records.map((_, i) => [...nodeOf.subarray(batch.turnOffsets[i], batch.turnOffsets[i + 1])]);
};

describe('trajectoryTree', () => {
  it('shares the turns up to the parent one', () => {
    // prompt 0; A 1, B 2, C 3, D 4, E 5, F 6, G 7
    expect(paths(TOY_TREE)).toEqual([[1, 2, 3], [1, 4], [1, 2, 5], [6, 7]]); // prettier-ignore
    const tree = treeOf(TOY_TREE);
    expect([...tree.parentNode]).toEqual([-1, 0, 1, 2, 1, 2, 0, 6]);
    expect([...tree.depth]).toEqual([0, 1, 2, 3, 2, 3, 1, 2]);
    expect([...tree.endNode]).toEqual([3, 4, 5, 7]);
    expect([...tree.treeOf]).toEqual([0, 0, 0, 3]);
    expect([...tree.turnOf]).toEqual([-1, 0, 1, 2, 4, 7, 8, 9]);
    expect(tree.warnings).toEqual([]);
  });

  it('does not mind that a branch stands before its trunk', () => {
    expect(paths(TOY_TREE.toReversed())).toEqual([[1, 2], [3, 4, 5], [3, 6], [3, 4, 7]]); // prettier-ignore
  });

  it('follows parents of parents, and shares only the prompt at turn -1', () => {
    const records = [branch('a', 0, 3), branch('b', 0, 3, ['a', 1]), branch('c', 0, 3, ['b', 0]), branch('d', 0, 1, ['c', -1])]; // prettier-ignore
    expect(paths(records)).toEqual([[1, 2, 3], [1, 2, 4], [1, 5, 6], [7]]); // prettier-ignore
    expect([...treeOf(records).treeOf]).toEqual([0, 0, 0, 0]);
  });

  it('takes no parent from elsewhere, from another group or from a circle, and says so', () => {
    expect(treeOf([branch('a', 0, 2, ['far', 0])]).warnings).toEqual([
      'no trajectory branches off another one',
      'trajectories whose parent is not among those of this training step: 1 of 1',
    ]);
    const foreign = [branch('a', 0, 1), { ...branch('b', 0, 2, ['a', 0]), group: 'h' }];
    expect(paths(foreign)).toEqual([[2], [3, 4]]);
    expect(treeOf(foreign).warnings).toContain('trajectories whose parent is of another group: 1 of 2');
    const circle = [branch('a', 0, 2, ['b', 0]), branch('b', 0, 2, ['a', 0]), branch('c', 0, 2, ['a', 0])];
    expect(paths(circle)).toEqual([[1, 2], [3, 4], [1, 5]]); // prettier-ignore
    expect(treeOf(circle).warnings).toEqual(['trajectories whose parents lead in a circle: 2 of 3']);
    expect(paths([branch('a', 0, 1, ['a', 0])])).toEqual([[1]]);
  });

  it('shares no turn that the parent lacks, and says that a branch lists all its turns', () => {
    const records = [branch('a', 0, 1), branch('b', 0, 3, ['a', 1]), branch('c', 0, 1, ['a', 0])];
    expect(paths(records)).toEqual([[1], [1, 2, 3], [1]]); // prettier-ignore
    expect(treeOf(records).warnings).toEqual([
      'branches that share turns which their parent does not have: 1 of 3',
      'branches without a turn of their own: a branch lists the turns it shares and its own: 1 of 3',
    ]);
  });

  it('hangs each group on its own prompt', () => {
    const tree = treeOf([branch('a', 0, 1), { ...branch('b', 0, 0), group: 'h' }]);
    expect([...tree.parentNode]).toEqual([-1, -1, 0]);
    expect([...tree.endNode]).toEqual([2, 1]);
    expect([...promptOf(tree)]).toEqual([0, 1, 0]);
  });

  it('is a forest with parents before children, whatever the parents say', () => {
    const record = fc.record({ turns: fc.nat(4), parent: fc.nat(6), turn: fc.integer({ min: -1, max: 5 }) });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (given) => {
        const records = given.map(({ turns, parent, turn }, i) => branch(`${i}`, 0, turns, [`${parent}`, turn]));
        const batch = trajectoryBatch(records);
        const { parentNode, depth, nodeOf, nodeCount } = trajectoryTree(batch);
        for (let n = 0; n < nodeCount; n++) {
          expect(parentNode[n]).toBeLessThan(n);
          expect(depth[n]).toBe(parentNode[n] < 0 ? 0 : depth[parentNode[n]] + 1);
        }
        records.forEach((_, i) => {
          for (let row = batch.turnOffsets[i] + 1; row < batch.turnOffsets[i + 1]; row++) {
            expect(parentNode[nodeOf[row]]).toBe(nodeOf[row - 1]);
          }
        });
      }),
    );
  });
});

describe('nodeMeans', () => {
  const tree = treeOf(TOY_TREE);
  const outcome = Float64Array.of(1, 0, 0, 1);

  it('is over leaves, or over children', () => {
    const byLeaves = nodeMeans(tree, outcome, 'leaves');
    expect([...byLeaves.leaves]).toEqual([4, 3, 2, 1, 1, 1, 1, 1]);
    expect([...byLeaves.mean]).toEqual([0.5, 1 / 3, 0.5, 1, 0, 0, 1, 1]);
    expect([...nodeMeans(tree, outcome, 'children').mean]).toEqual([0.625, 0.25, 0.5, 1, 0, 0, 1, 1]);
    expect([...onTurns(tree, gains(tree, byLeaves.mean))].slice(8)).toEqual([0.5, 0]);
  });

  it('says nothing where nothing ended, and counts what ended at an inner node as a child', () => {
    const silent = nodeMeans(tree, Float64Array.of(1, NaN, NaN, NaN), 'leaves');
    expect([...silent.mean]).toEqual([1, 1, 1, 1, NaN, NaN, NaN, NaN]);
    const stub = treeOf([branch('a', 0, 1), branch('b', 0, 2, ['a', 0])]);
    expect([...nodeMeans(stub, Float64Array.of(1, 0), 'children').mean]).toEqual([0.5, 0.5, 0]);
  });

  it('has no rounding where all agree', () => {
    const { mean } = nodeMeans(tree, Float64Array.of(0.1, 0.1, 0.1, 0.1), 'leaves');
    expect([...mean]).toEqual(Array.from(mean, () => 0.1));
  });
});
