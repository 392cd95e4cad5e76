import { ESTIMATORS, runEstimator } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, TURNS } from './made-records.js';
import { rate } from './rate.js';

const TRAJECTORIES = 12_800;

/** Each estimator with its defaults, over 204,800 turns in groups of 8, in one thread. */
export const estimators: Benchmark = {
  name: 'estimators',
  async run() {
    const trajectories = trajectoryBatch(madeRecords(TRAJECTORIES));
    const reward = Float64Array.from(numbers(trajectories, 'turn.reward') ?? []);
    const turns = TRAJECTORIES * TURNS;
    const measured: [string, number][] = [];
    for (const estimator of ESTIMATORS) {
      const { kind } = runEstimator(estimator, trajectories);
      const turnsPerSecond = await rate(turns, () => runEstimator(estimator, trajectories));
      measured.push([kind === 'credit' ? estimator.id : `${estimator.id} (lacks a signal)`, turnsPerSecond]);
    }
    return rowsAgainst(
      'turns/s',
      ['summing one Float64Array of the turns', await rate(turns, () => sum(reward))],
      measured,
    );
  },
};

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
