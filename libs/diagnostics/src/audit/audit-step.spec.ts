import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { auditStep } from './audit-step.js';

/** Two groups with turns; logged is one value per turn, in order. */
function audit(logged: readonly number[], advantage: readonly number[]) {
  const rewards = [1, 0, 0.3, 0.5];
  const trajectories = trajectoryBatch(
    rewards.map((outcomeReward, i) => ({
      id: `t${i}`,
      group: i < 3 ? 'a' : 'b',
      trainingStep: 0,
      outcomeReward,
      turns: [{}, {}],
    })),
  );
  const claim = { formula: 'mine', level: 'trajectory', gamma: 1, advantage: Float64Array.from(advantage) } as const;
  return auditStep(trajectories, claim, { level: 'turn', values: Float64Array.from(logged) });
}

const twice = (values: readonly number[]) => values.flatMap((value) => [value, value]);

it('has nothing to say where nothing was logged', () => {
  expect(audit(twice([NaN, NaN, NaN, NaN]), [1, 2, 3, 4])).toBeNull();
});

it('leaves out rows on which nothing was logged', () => {
  expect(audit(twice([1, -1, NaN, 0.25]), [1, -1, 7, 0.25])).toMatchObject({ verdict: 'match', rows: 3 });
});

it('shows the rows that are off, furthest first, and not those within the precision of the log', () => {
  const found = audit(twice([1.0000001, -1, 0.5, 0.1]), [1, -2, 0.3, 0.1]);
  expect(found).toMatchObject({ verdict: 'unexplained', mismatchShare: 0.5 });
  expect(
    found?.worst.map(({ trajectory, turn, logged, recomputed }) => [trajectory, turn, logged, recomputed]),
  ).toEqual([
    ['t1', null, -1, -2],
    ['t2', null, 0.5, 0.3],
  ]);
});

it('does not sum groups of one', () => {
  expect(audit(twice([1, -0.5, -0.5, 9]), [1, -0.5, -0.5, 9])?.groupSumMaxAbs).toBe(0);
});
