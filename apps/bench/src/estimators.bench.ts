import { ESTIMATORS, missingText, runEstimator, type AnyEstimator, type Credit } from '#lib/credit';
import { rowCount, type TrajectoryBatch } from '#lib/dataset';
import { messageOf } from '#lib/kernel';
import type { BenchRow } from './bench-row.js';
import type { Benchmark } from './benchmark.js';
import { madeTrajectories, withSignalsOf } from './made-columns.js';

/** The last one is what is wanted; one before it that takes too long is what is shown. */
const SIZES = [10_000, 100_000, 1_000_000];
const MOST_SECONDS = 20;
/** Copies are repeated for so long: the clock of a thread ticks in milliseconds. */
const COPY_MICROSECONDS = 50_000;

/**
 * Each estimator of the catalogue with its defaults over a million turns in groups of 8, in one thread: nanoseconds of
 * processor time per turn, or per token where it gives credit per token, beside those of copying its input columns. One that
 * would take more than 20 s is measured over fewer turns, and its row says over how many.
 */
export const estimators: Benchmark = {
  name: 'estimators',
  async run() {
    const batches = SIZES.map(madeTrajectories);
    return ESTIMATORS.flatMap((estimator) => {
      try {
        return [measured(estimator, batches)];
      } catch (error) {
        process.stderr.write(`${estimator.id} could not be measured: ${messageOf(error)}\n`);
        return [];
      }
    });
  },
};

function measured(estimator: AnyEstimator, batches: readonly TrajectoryBatch[]): BenchRow {
  let row: BenchRow | null = null;
  for (const [i, bare] of batches.entries()) {
    const trajectories = withSignalsOf(estimator, bare);
    const { seconds, credit } = timed(estimator, trajectories);
    const turns = SIZES[i];
    const perTokens = credit.level === 'token';
    const rows = perTokens ? rowCount(trajectories, 'token') : turns;
    const [value, copy] = [seconds, copySeconds(estimator, trajectories)].map((s) => (s * 1e9) / rows);
    row = {
      name: estimator.id + (i === batches.length - 1 ? '' : ` (${turns.toLocaleString('en')} turns)`),
      value: Number(value.toPrecision(3)),
      unit: perTokens ? 'ns/token' : 'ns/turn',
      yardstick: `copying its columns: ${copy.toPrecision(2)} ns`,
      ratio: value / copy,
    };
    // the next is ten times as large, and may be worse than ten times as slow
    if (seconds * 15 > MOST_SECONDS) break;
  }
  return row!;
}

function timed(estimator: AnyEstimator, trajectories: TrajectoryBatch): { seconds: number; credit: Credit } {
  const started = process.threadCpuUsage();
  const outcome = runEstimator(estimator, trajectories);
  const { user, system } = process.threadCpuUsage(started);
  if (outcome.kind === 'missing') throw new TypeError(missingText(outcome.missing));
  return { seconds: (user + system) / 1e6, credit: outcome.credit };
}

/** Of all that the estimator reads: its signals, and what places them. */
function copySeconds(estimator: AnyEstimator, trajectories: TrajectoryBatch): number {
  const { groupOf, turnOffsets, tokenOffsets, stateKey, actionKey, columns } = trajectories;
  const reads = (path: 'turn.state' | 'turn.action') => estimator.requires.includes(path);
  const inputs = [
    groupOf,
    turnOffsets,
    ...(columns.keys().some((path) => path.startsWith('token.')) ? [tokenOffsets] : []),
    ...(reads('turn.state') ? [stateKey] : []),
    ...(reads('turn.action') ? [actionKey] : []),
    ...[...columns.values()].map(({ values }) => values),
  ];
  const started = process.threadCpuUsage();
  for (let times = 1; ; times++) {
    for (const input of inputs) input.slice();
    const { user, system } = process.threadCpuUsage(started);
    if (user + system >= COPY_MICROSECONDS) return (user + system) / 1e6 / times;
  }
}
