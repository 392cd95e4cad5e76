import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { jackknifeStability } from './jackknife-stability.js';

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

it('gives the example of the method: two successes and two failures', () => {
  const { credit, maxMove, standardError, signUnstableShare } = jackknifeStability(batch([1, 0, 1, 0]), grpo, { zeroTolerance: 1e-8 }); // prettier-ignore
  expect(Math.abs(credit[0])).toBeCloseTo(0.866, 3);
  for (const t of credit.keys()) {
    expect(maxMove[t]).toBeCloseTo(0.2887, 4);
    expect(standardError[t]).toBeCloseTo(0.3849, 4);
  }
  expect(signUnstableShare).toBe(0);
});

it('says nothing of groups of two', () => {
  const found = jackknifeStability(batch([1, 0], [1, 0, 0.2]), grpo, { zeroTolerance: 1e-8 });
  expect([...found.maxMove.subarray(0, 4)]).toEqual([NaN, NaN, NaN, NaN]);
  expect(found.skippedTrajectories).toBe(2);
  expect(found.meanMaxMove).toBeGreaterThan(0);
  expect(jackknifeStability(batch([1, 0]), grpo, { zeroTolerance: 1e-8 })).toMatchObject({ meanMaxMove: null, relativeInstability: null }); // prettier-ignore
});

it('sees a sign that hangs on one other trajectory', () => {
  // without the 1 the middle one is the best of its group
  const { signUnstable } = jackknifeStability(batch([0, 0.4, 1]), grpo, { zeroTolerance: 1e-8 });
  expect([...signUnstable]).toEqual([0, 0, 1, 1, 0, 0]);
});

it('measures each group as if it were alone', () => {
  const alone = jackknifeStability(batch([1, 0, 0.5, 0]), grpo, { zeroTolerance: 1e-8 });
  const beside = jackknifeStability(batch([0, 1, 1], [1, 0, 0.5, 0]), grpo, { zeroTolerance: 1e-8 });
  expect([...beside.standardError.subarray(6)]).toEqual([...alone.standardError]);
});
