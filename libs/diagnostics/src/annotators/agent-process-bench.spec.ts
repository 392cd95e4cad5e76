import { describe, expect, it } from 'vitest';
import { agentProcessBench } from './agent-process-bench.js';

const NONE = NaN;
/** Trajectories as pairs of labels per turn. */
const compare = (
  trajectories: [reference: number[], judged: number[]][],
  dataset?: (string | null)[],
  failed?: boolean[],
) =>
  agentProcessBench(
    { turnOffsets: Int32Array.from([0, ...trajectories.map((_, i) => trajectories.slice(0, i + 1).flatMap(([r]) => r).length)]) }, // prettier-ignore
    Float64Array.from(trajectories.flatMap(([reference]) => reference)),
    Float64Array.from(trajectories.flatMap(([, judged]) => judged)),
    dataset ?? trajectories.map(() => 'd'),
    failed ?? trajectories.map(() => false),
  );

describe('agentProcessBench', () => {
  it('counts a label that was not given as no match, and the first error by its turn', () => {
    const { pooled, firstErrorTurn } = compare([[[1, 1, 0, -1, -1], [1, NONE, 0, -1, NONE]]]); // prettier-ignore
    expect(pooled).toMatchObject({
      stepTotal: 5,
      stepMatches: 3,
      stepAcc: 0.6,
      trajectoryExactAcc: 0,
      firstErrorAcc: 1,
    });
    expect(firstErrorTurn).toEqual([[3, 3]]);
  });

  it('lets a failed judgement hit the first error of a trajectory without errors', () => {
    const { pooled } = compare([[[1, 1, 1], [NONE, NONE, NONE]]], ['d'], [true]); // prettier-ignore
    expect(pooled).toMatchObject({ stepMatches: 0, firstErrorAcc: 1, missingOrFailedRatio: 1 });
  });

  it('asks for the same turns to be labelled where all must agree', () => {
    expect(compare([[[1, NONE], [1, 0]]]).pooled.trajectoryExactAcc).toBe(0); // prettier-ignore
    expect(compare([[[1, NONE], [1, NONE]]]).pooled.trajectoryExactAcc).toBe(1); // prettier-ignore
  });

  it('pools sums and not the means of data sets', () => {
    const { byDataset, pooled } = compare([[[1], [0]], [[1, 1, 1], [1, 1, 1]]], ['small', 'big']); // prettier-ignore
    expect([byDataset['small'].stepAcc, byDataset['big'].stepAcc, pooled.stepAcc]).toEqual([0, 1, 0.75]);
  });

  it('shows which label was taken for which', () => {
    const { confusion, recall, macroF1 } = compare([[[-1, -1, 0, 1, 1], [-1, 0, 0, 1, NONE]]]); // prettier-ignore
    expect(confusion).toEqual([[1, 1, 0], [0, 1, 0], [0, 0, 1]]); // prettier-ignore
    expect(recall).toEqual([0.5, 1, 1]);
    // 2/3, 2/3 and 1
    expect(macroF1).toBeCloseTo(7 / 9, 12);
  });

  it('says nothing of nothing', () => {
    expect(compare([]).pooled).toEqual({ records: 0, stepTotal: 0, stepMatches: 0, stepAcc: null, trajectoryExactAcc: null, firstErrorAcc: null, missingOrFailedRatio: null }); // prettier-ignore
    expect(compare([[[], []]]).pooled).toMatchObject({ records: 1, stepAcc: null, trajectoryExactAcc: 1 });
  });
});
