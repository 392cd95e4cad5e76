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

it('says which formulas leave nothing, where nothing was logged but 0', () => {
  const step = (excluded: readonly boolean[]) =>
    trajectoryBatch(
      [1, 0, 0, 0].map((outcomeReward, i) => ({
        id: `t${i}`,
        group: 'g',
        trainingStep: 0,
        outcomeReward,
        signals: { excluded: excluded[i] },
        turns: [{}],
      })),
    );
  const claim = { formula: 'grpo', level: 'trajectory', gamma: 1, advantage: Float64Array.of(1.5, -0.5, -0.5, -0.5) } as const; // prettier-ignore
  const zeros = { level: 'turn', values: new Float64Array(4) } as const;
  // the one success was excluded: what is left has one reward
  expect(auditStep(step([true, false, false, false]), claim, zeros)).toMatchObject({
    verdict: 'all-zero',
    explanation: null,
    equallyGood: [{ formula: 'excluded-left-out', transform: 'identity' }],
  });
  expect(auditStep(step([false, true, false, false]), claim, zeros)).toMatchObject({ verdict: 'all-zero', equallyGood: [] }); // prettier-ignore
});

it.each([
  [20, 5, 'bf16', [1.6875, -0.5625]],
  [32, 13, 'bf16', [1.1875, -0.8125]],
  // here the numbers are right without any rounding
  [4, 1, 'fp32', [1.5, -0.5]],
])(
  'knows the precision of %i rollouts with %i successes by the claim: %s',
  (size, successes, precision, [won, lost]) => {
    const isWon = Array.from({ length: size }, (_, i) => i < successes);
    const trajectories = trajectoryBatch(
      isWon.map((success, i) => ({
        id: `t${i}`,
        group: 'g',
        trainingStep: 0,
        outcomeReward: Number(success),
        turns: [{}],
      })),
    );
    const share = successes / size;
    const spread = Math.sqrt((share * (1 - share) * size) / (size - 1));
    const right = isWon.map((success) => (Number(success) - share) / (spread + 1e-6));
    const claim = { formula: 'grpo', level: 'trajectory', gamma: 1, advantage: Float64Array.from(right) } as const;
    const values = Float64Array.from(isWon, (success) => (success ? won : lost));
    expect(auditStep(trajectories, claim, { level: 'turn', values })).toMatchObject({
      verdict: 'match',
      loggedPrecision: precision,
    });
    // what is not the rounded number is a fault at any precision
    values[0] += 1 / 16;
    expect(auditStep(trajectories, claim, { level: 'turn', values })?.verdict).not.toBe('match');
  },
);

it('does not sum groups of one', () => {
  expect(audit(twice([1, -0.5, -0.5, 9]), [1, -0.5, -0.5, 9])?.groupSumMaxAbs).toBe(0);
});
