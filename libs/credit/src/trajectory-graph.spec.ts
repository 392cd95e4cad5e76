import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { rowsByLabel, trajectoryGraph } from './trajectory-graph.js';

const rollout = (id: string, group: string, ...states: string[]) => ({
  id,
  group,
  trainingStep: 0,
  turns: states.map((state) => ({ state })),
});
const graphOf = (records: ReturnType<typeof rollout>[], ends?: (string | null)[]) =>
  trajectoryGraph(trajectoryBatch(records), ends);

describe('trajectoryGraph', () => {
  it('merges equal states inside a group, and only there', () => {
    const graph = graphOf([rollout('a', 'g', 'x', 'y'), rollout('b', 'g', 'y'), rollout('c', 'h', 'x')]);
    expect([...graph.nodeOf]).toEqual([0, 1, 1, 2]);
    expect([...graph.nextNode]).toEqual([1, 3, 3, 4]);
    expect([...graph.endNode]).toEqual([3, 3, 4]);
    expect(graph.nodeCount).toBe(5);
  });

  it('ends where the final state says, which may be a state that was visited', () => {
    const graph = graphOf(
      [rollout('a', 'g', 'x', 'y'), rollout('b', 'g', 'x'), rollout('c', 'g', 'x')],
      ['z', 'y', 'z'],
    );
    expect([...graph.nextNode]).toEqual([1, 2, 1, 2]);
  });

  it('has no end for a trajectory without turns', () => {
    expect([...graphOf([rollout('a', 'g'), rollout('b', 'g', 'x')], ['x', null]).endNode]).toEqual([-1, 1]);
  });
});

describe('rowsByLabel', () => {
  it('lists the rows of each label in order', () => {
    const { offsets, rows } = rowsByLabel(Int32Array.of(2, 0, -1, 2), 3);
    expect([...offsets]).toEqual([0, 1, 1, 3]);
    expect([...rows]).toEqual([1, 0, 3]);
  });
});
