import { ESTIMATORS, runEstimator } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, TURNS } from './made-records.js';
import { rate } from './rate.js';

const TRAJECTORIES = 12_800;

/** Each estimator that finds its signals, with its defaults, over 204,800 turns in groups of 8, in one thread. */
export const estimators: Benchmark = {
  name: 'estimators',
  async run() {
    const trajectories = trajectoryBatch(madeRecords(TRAJECTORIES));
    const reward = Float64Array.from(numbers(trajectories, 'turn.reward') ?? []);
    const turns = TRAJECTORIES * TURNS;
    const measured: [string, number][] = [];
    for (const estimator of ESTIMATORS) {
      if (runEstimator(estimator, trajectories).kind === 'missing') continue;
      measured.push([estimator.id, await rate(turns, () => runEstimator(estimator, trajectories))]);
    }
    const yardstick = ['summing one Float64Array of the turns', await rate(turns, () => sum(reward))] as const;
    return rowsAgainst('turns/s', yardstick, measured);
  },
};

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
