import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { numbers, trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { repeatRows } from '#lib/numeric';
import { expect, it } from 'vitest';
import { batchWithout, jackknifeStability, leaveGroupsOut, leaveOneTrajectoryOut } from './jackknife-stability.js';

/** Groups by their outcomes; every trajectory has two turns. */
const batch = (...groups: readonly number[][]) =>
  trajectoryBatch(
    groups.flatMap(
      (outcomes, g) =>
      outcomes.map((outcomeReward, i) => ({ id: `${g}-${i}`, group: `g${g}`, trainingStep: 0, outcomeReward, turns: [{}, {}] })), // prettier-ignore
    ),
  );

function grpo(trajectories: TrajectoryBatch): Float64Array {
  const outcome = runEstimator(findEstimator('grpo'), trajectories);
  return outcome.kind === 'credit' ? turnCredit(trajectories, outcome.credit) : new Float64Array(0);
}

const ZERO = { zeroTolerance: 1e-8 };

/** One trajectory of each group left out at a time. */
function stabilityOf(trajectories: TrajectoryBatch, creditOf: (trajectories: TrajectoryBatch) => Float64Array = grpo) {
  const rounds = leaveOneTrajectoryOut(trajectories);
  const reduced = rounds.map((round) => creditOf(batchWithout(trajectories, round)));
  return jackknifeStability(trajectories, creditOf(trajectories), rounds, reduced, ZERO);
}

it('gives the example of the method: two successes and two failures', () => {
  const { credit, maxMove, standardError, signUnstableShare } = stabilityOf(batch([1, 0, 1, 0]));
  expect(Math.abs(credit[0])).toBeCloseTo(0.866, 3);
  for (const t of credit.keys()) {
    expect(maxMove[t]).toBeCloseTo(0.2887, 4);
    expect(standardError[t]).toBeCloseTo(0.3849, 4);
  }
  expect(signUnstableShare).toBe(0);
});

it('says nothing of groups of two', () => {
  const found = stabilityOf(batch([1, 0], [1, 0, 0.2]));
  expect([...found.maxMove.subarray(0, 4)]).toEqual([NaN, NaN, NaN, NaN]);
  expect(found.skippedTrajectories).toBe(2);
  expect(found.meanMaxMove).toBeGreaterThan(0);
  expect(stabilityOf(batch([1, 0]))).toMatchObject({ meanMaxMove: null, relativeInstability: null }); // prettier-ignore
});

it('sees a sign that hangs on one other trajectory', () => {
  // without the 1 the middle one is the best of its group
  const { signUnstable } = stabilityOf(batch([0, 0.4, 1]));
  expect([...signUnstable]).toEqual([0, 0, 1, 1, 0, 0]);
});

it('measures each group as if it were alone', () => {
  const alone = stabilityOf(batch([1, 0, 0.5, 0]));
  const beside = stabilityOf(batch([0, 1, 1], [1, 0, 0.5, 0]));
  expect([...beside.standardError.subarray(6)]).toEqual([...alone.standardError]);
});

it('leaves out a circle of parents at once, whoever of it is left out', () => {
  const parents = ['b', 'c', 'a', null, 'd'];
  const trajectories = trajectoryBatch(
    [...'abcde'].map((id, i) => ({
      id,
      group: 'g',
      trainingStep: 0,
      ...(parents[i] && { parent: { trajectory: parents[i], turn: 0 } }),
      turns: [{}],
    })),
  );
  const lefts = leaveOneTrajectoryOut(trajectories).map(({ left }) => [...left].toSorted((a, b) => a - b));
  expect(lefts).toEqual([[0, 1, 2], [0, 1, 2], [0, 1, 2], [3, 4], [4]]); // prettier-ignore
});

it('leaves out with a trajectory what branches off it', () => {
  const of = (id: string, parent?: string) => ({ id, group: 'g', trainingStep: 0, turns: [{}], ...(parent && { parent: { trajectory: parent, turn: 0 } }) }); // prettier-ignore
  const tree = trajectoryBatch([of('a'), of('b', 'a'), of('c', 'b'), of('d')]);
  expect(leaveOneTrajectoryOut(tree).map(({ left }) => [...left].toSorted((a, b) => a - b))).toEqual([
    [0, 1, 2],
    [1, 2],
    [2],
    [3],
  ]);
});

it('looks at no turn of which nothing is said, in whole or without somebody', () => {
  const silent = (trajectories: TrajectoryBatch) => grpo(trajectories).map((value, t) => (t === 0 ? NaN : value));
  const { maxMove, meanMaxMove } = stabilityOf(batch([1, 0, 0.5]), silent);
  expect(maxMove[0]).toBeNaN();
  // the first turn of what is left is silent too: the first trajectory's, or without that the second one's
  expect(maxMove[2]).toBeGreaterThan(0);
  expect(meanMaxMove).toBeGreaterThan(0);
});

it('leaves groups out for an estimator that looks across them, at most ten times', () => {
  const groups = Array.from({ length: 23 }, (_unused, g) => [g % 2, 1]);
  const trajectories = batch(...groups);
  const rounds = leaveGroupsOut(trajectories);
  expect(rounds).toHaveLength(10);
  expect(rounds.flatMap(({ left }) => [...left]).toSorted((a, b) => a - b)).toEqual([...trajectories.ids.keys()]);
  for (const { left, looked } of rounds) expect(left.size + looked.length).toBe(trajectories.ids.length);
  // centred by the mean of the whole batch: 0.75 of the 12 groups of [0, 1] and the 11 of [1, 1]
  const centred = (some: TrajectoryBatch) => {
    const reward = Float64Array.from(numbers(some, 'trajectory.outcomeReward')!);
    const mean = reward.reduce((sum, value) => sum + value, 0) / reward.length;
    return repeatRows(
      reward.map((value) => value - mean),
      some.turnOffsets,
    );
  };
  const reduced = rounds.map((round) => centred(batchWithout(trajectories, round)));
  const { maxMove, signUnstableShare } = jackknifeStability(trajectories, centred(trajectories), rounds, reduced, ZERO);
  // 34 of 46 succeed. Blocks 0, 2 hold groups 0, 10, 20 and 2, 12, 22: without them 31 of 40, and so on
  const means = rounds.map(
    ({ looked }) => looked.filter((row) => groups[row >> 1][row & 1] === 1).length / looked.length,
  );
  expect(maxMove[0]).toBeCloseTo(Math.max(...means.slice(1).map((mean) => Math.abs(mean - 34 / 46))), 12);
  expect(signUnstableShare).toBe(0);
  expect(leaveGroupsOut(batch([1, 0], [1, 0]))).toEqual([]);
});
