import { computeShard } from '#lib/analysis';
import { findEstimator, runEstimator } from '#lib/credit';
import { numbers } from '#lib/dataset';
import { rowsAgainst, type Benchmark, type BenchOptions } from './benchmark.js';
import { rate, rateOnce } from './rate.js';
import { TURNS_PER_STEP, withShards, type StoredShards } from './stored-shards.js';

/**
 * Turns whose credit is computed again, from segments on disk to credit files, in one process and one thread; and the
 * estimators alone, on columns in memory, beside a copy of what they read and write.
 */
export const recompute: Benchmark = {
  name: 'recompute',
  run: ({ turns = 2_000_000 }: BenchOptions = {}) =>
    withShards(turns, async (shards) => {
      const { trajectories } = shards;
      const reward = numbers(trajectories, 'turn.reward') ?? new Float64Array();
      const outcome = numbers(trajectories, 'trajectory.outcomeReward') ?? new Float64Array();
      const columns = { 'turn.reward': reward, 'trajectory.outcomeReward': outcome } as never;
      const kernel = (id: string) => {
        const estimator = findEstimator(id);
        const params = estimator.params.parse({}) as never;
        return rate(TURNS_PER_STEP, () => estimator.estimate(trajectories, columns, params));
      };
      // what gigpo reads (states, rewards) and writes (credit, returns, anchors, both parts)
      const held = [trajectories.stateKey, reward, ...Array.from({ length: 5 }, () => new Float64Array(reward.length))];
      const copy = await rate(TURNS_PER_STEP, () => held.map((column) => column.slice()));
      return rowsAgainst(
        'turns/s',
        ['copying in memory what gigpo reads and writes', copy],
        [
          ['the gigpo kernel', await kernel('gigpo')],
          ['the grpo kernel', await kernel('grpo')],
          [
            'gigpo with its checks',
            await rate(TURNS_PER_STEP, () => runEstimator(findEstimator('gigpo'), trajectories)),
          ],
          [`gigpo, ${shards.turns} turns from segments to credit files`, await computed(shards, 'gigpo')],
          [`grpo, ${shards.turns} turns from segments to credit files`, await computed(shards, 'grpo')],
        ],
      );
    }),
};

/** All shards of an estimator, one after the other; the first one warms up. */
export async function computed(shards: StoredShards, estimator: string): Promise<number> {
  const { store, steps, turns } = shards;
  await computeShard(store, shards.task(0, estimator));
  return rateOnce(turns, async () => {
    for (let step = 0; step < steps; step++) await computeShard(store, shards.task(step, estimator));
  });
}
