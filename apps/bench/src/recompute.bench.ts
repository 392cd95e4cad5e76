import { availableParallelism } from 'node:os';
import { SHARDS_PER_THREAD, shardThreads, type ThreadTask } from '#app/worker';
import { findEstimator, runEstimator } from '#lib/credit';
import { numbers } from '#lib/dataset';
import { rowsAgainst, type Benchmark, type BenchOptions } from './benchmark.js';
import { rate, rateOnce } from './rate.js';
import { TURNS_PER_STEP, withShards, type StoredShards } from './stored-shards.js';

/**
 * Turns whose credit is computed again, from segments on disk to credit files, in one process: in one thread, and in a thread
 * per core, as a worker does; and the estimators alone, on columns in memory, beside a copy of what they read and write.
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
          ...(await rows(shards, 'gigpo')),
          ...(await rows(shards, 'grpo')),
          await besideTokens(),
        ],
      );
    }),
};

/**
 * Shards that each thread computes before the clock starts, so that what is measured is what runs most of the time: V8's
 * own threads are busy until about then.
 */
const WARM_UPS = 150;
const TOKENS = 300;
const TURNS_WITH_TOKENS = 40_960;

async function rows(shards: StoredShards, estimator: string): Promise<(readonly [string, number])[]> {
  const what = `${estimator}, ${shards.turns} turns from segments to credit files`;
  return [
    [`${what}, one thread`, await computed(shards, estimator, 1)],
    [`${what}, a thread per core`, await computed(shards, estimator, availableParallelism())],
    [`${what}, a thread per core that just started`, await computed(shards, estimator, availableParallelism(), 1)],
  ];
}

/** A quarter of a gigabyte of segments, whose tokens nobody asks for. */
function besideTokens(): Promise<readonly [string, number]> {
  return withShards(
    TURNS_WITH_TOKENS,
    async (shards) => [
      `gigpo, ${shards.turns} turns in shards of 1,280 beside ${TOKENS} tokens each, one thread`,
      await computed(shards, 'gigpo', 1),
    ],
    { perStep: 80, tokens: TOKENS },
  );
}

/**
 * Turns a second over all shards of an estimator, in threads of this process as a worker has them.
 *
 * @param warmUps shards that each thread computes before
 */
export async function computed(
  shards: StoredShards,
  estimator: string,
  threads: number,
  warmUps = WARM_UPS,
): Promise<number> {
  const { segments, steps, turns } = shards;
  const pool = shardThreads(threads, { ownEstimators: [], device: 'auto' });
  const compute = (step: number) =>
    pool.run({ segments, task: shards.task(step, estimator) } satisfies ThreadTask, { name: 'compute' });
  const computeAll = async (count: number) => {
    let next = 0;
    const loop = async () => {
      while (next < count) await compute(next++ % steps);
    };
    await Promise.all(Array.from({ length: threads * SHARDS_PER_THREAD }, loop));
  };
  try {
    await computeAll(warmUps * threads);
    return await rateOnce(turns, () => computeAll(steps));
  } finally {
    await pool.destroy();
  }
}
