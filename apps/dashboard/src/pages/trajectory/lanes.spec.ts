import { expect, it } from 'vitest';
import { lanesOf, shareOf } from './lanes.js';
import type { RunOfTrajectory, Turn } from './queries.js';

const turn = (index: number, grpo: number | null, exactAdvantage: number): Turn => ({
  index,
  cursor: '',
  state: '',
  action: '',
  reward: null,
  signals: { exactAdvantage },
  credit: [{ estimator: 'grpo', credit: grpo, level: 'turn' }],
});

function runWith(std: number | null): RunOfTrajectory {
  const signals = [
    { level: 'turn', name: 'exactAdvantage', minimum: -0.5, maximum: 0.25 },
    { level: 'token', name: 'exactAdvantage', minimum: -9, maximum: 9 },
    { level: 'turn', name: 'entropy', minimum: 0, maximum: 2 },
  ];
  const comparison = { estimators: [{ id: 'grpo', std }] };
  const node = {
    id: 'one',
    state: 'COMPLETED' as const,
    createdAt: '',
    estimators: [{ label: 'grpo' }],
    comparison,
  };
  return { id: 'r', name: 'r', signals, analyses: { edges: [{ node }] } };
}

it('lays the truth first, then the estimators of the analysis', () => {
  const turns = [turn(0, 1, 0.25), turn(1, -8, -0.5), turn(2, null, 0)];
  const [truth, grpo, ...rest] = lanesOf(runWith(2), 'one', turns);
  expect(rest).toEqual([]);
  expect([truth.name, grpo.name]).toEqual(['exactAdvantage', 'grpo']);
  expect(turns.map((one) => shareOf(truth, one))).toEqual([0.5, -1, 0]);
  expect(turns.map((one) => shareOf(grpo, one))).toEqual([0.25, -1, null]); // of 2 spreads, cut off there
});

it('takes the largest of the trajectory where no spread is known', () => {
  const turns = [turn(0, 1, 0), turn(1, -4, 0)];
  const [, grpo] = lanesOf(runWith(null), 'one', turns);
  expect(turns.map((one) => shareOf(grpo, one))).toEqual([0.25, -1]);
});

it('shows only the truth without an analysis', () => {
  expect(lanesOf(runWith(1), null, []).map(({ name }) => name)).toEqual(['exactAdvantage']);
});
