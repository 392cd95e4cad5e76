import { availableParallelism } from 'node:os';
import { SHARDS_PER_THREAD, shardThreads } from '#app/worker';
import { openSegment, readHead } from '#lib/columnar';
import { FigureMemory, measureSteps, readDiagnosis, stepRevisions, type MeasureTask } from '#lib/diagnosis';
import { FileMemory } from '#lib/storage';
import { rowsAgainst, type Benchmark, type BenchOptions } from './benchmark.js';
import type { BenchRow } from './bench-row.js';
import { withDiagnosedRun, type DiagnosedRun } from './diagnosed-run.js';
import { WITHOUT_TOKENS } from './diagnostics.bench.js';

const STEPS = 1_000;
const TURNS = 10_000_000;
/**
 * Training steps that are measured, and times that the run is caught up, at least: the first time by threads that start, and
 * compile what they do; the last time is what is measured, for it runs most of the time.
 */
const LEAST_STEPS = 1_000;
const LEAST_TIMES = 3;
/** Of the run that has tokens, which are read by nobody: its files are a hundred times as large. */
const STEPS_WITH_TOKENS = 10;
const TOKENS = 300;

/**
 * A run of 1,000 training steps that was never diagnosed is caught up: from segments on disk to stored figures, by the
 * diagnostics that read no tokens. Turns a second, in one thread and in a thread per core, and of a processor's second;
 * beside reading the same columns.
 */
export const catchUp: Benchmark = {
  name: 'diagnostics-catch-up',
  async run({ turns = TURNS }: BenchOptions = {}) {
    const turnsOfStep = Math.max(10, Math.round(turns / STEPS / 10) * 10);
    const without = await withDiagnosedRun({ steps: STEPS, turnsOfStep, tokensOfTurn: 0 }, async (run) => [
      ...(await rowsOf(run, '')),
      ...(await readings(run)),
    ]);
    const beside = { steps: STEPS_WITH_TOKENS, turnsOfStep, tokensOfTurn: TOKENS };
    const withTokens = await withDiagnosedRun(beside, (run) => rowsOf(run, `, beside ${TOKENS} tokens a turn`));
    return [...without, ...withTokens];
  },
};

async function rowsOf(run: DiagnosedRun, how: string): Promise<BenchRow[]> {
  const [one, all] = [await caughtUp(run, 1), await caughtUp(run, availableParallelism())];
  const read = await readColumns(run);
  return rowsAgainst(
    'turns/s',
    [`reading the same columns of ${run.turns} turns${how}`, read.perCpuSecond],
    [
      [`catching up, one thread${how}`, one.last.perSecond],
      [`catching up, a thread per core${how}`, all.last.perSecond],
      [`catching up, a thread per core that starts with it${how}`, all.first.perSecond],
      [`catching up, one thread, of a second of the processor${how}`, one.last.perCpuSecond],
      [`catching up, a thread per core, of a second of the processors${how}`, all.last.perCpuSecond],
    ],
  );
}

interface Rates {
  readonly perSecond: number;
  /** of this process, all its threads: without the database's */
  readonly perCpuSecond: number;
}

async function rates(turns: number, work: () => Promise<unknown>): Promise<Rates> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: turns / ((performance.now() - started) / 1e3), perCpuSecond: turns / ((user + system) / 1e6) };
}

/** From nothing to figures of every training step, in threads as a worker has them. */
async function caughtUp({ pool, segments, id, asOf, turns, steps }: DiagnosedRun, threads: number) {
  const workers = shardThreads(threads, { ownEstimators: [], device: 'auto' });
  const measure = (task: MeasureTask) => workers.run({ segments, task }, { name: 'measure' });
  const ports = {
    pool,
    measure,
    alerted: async () => {},
    concurrency: threads * SHARDS_PER_THREAD,
    catalogue: WITHOUT_TOKENS,
  };
  const times: Rates[] = [];
  try {
    while (times.length < LEAST_TIMES || times.length * steps < LEAST_STEPS) {
      await pool.query('truncate diagnostic_figures');
      times.push(await rates(turns, async () => measureSteps(ports, id, asOf, await stepRevisions(pool, id, asOf))));
    }
    return { first: times[0], last: times.at(-1)! };
  } finally {
    await workers.destroy();
  }
}

/** Opens each segment once, as who measures does, and sums its numbers. */
function readColumns({ store, files, turns }: DiagnosedRun): Promise<Rates> {
  const memory = new FileMemory(16 * 2 ** 20);
  return rates(turns, async () => {
    for (const { numericKey, textKey } of files) {
      const { allocate, giveBack } = memory.lend();
      const read = (key: string) => readHead(store, key, allocate);
      const [numeric, text] = await Promise.all([read(numericKey), read(textKey)]);
      const { columns } = openSegment(numeric, text).trajectories;
      for (const [path, column] of columns) {
        if (column.kind !== 'number' || path.startsWith('token.')) continue;
        let sum = 0;
        for (let i = 0; i < column.values.length; i++) sum += column.values[i];
        if (Number.isNaN(sum)) throw new Error(`${path} has gaps`);
      }
      giveBack();
    }
  });
}

/** What it takes to read a run whose figures are all there, by somebody who never read them, and by who follows the run. */
async function readings({ pool, id, asOf, steps }: DiagnosedRun): Promise<BenchRow[]> {
  const read = (memory?: FigureMemory) => readDiagnosis(pool, id, asOf, { catalogue: WITHOUT_TOKENS, memory });
  const memory = new FigureMemory();
  await read(memory);
  const first = await rates(steps, () => read());
  const again = await rates(steps, () => read(memory));
  return rowsAgainst(
    'training steps/s',
    ['reading a run of its figures, of a second of the processor', first.perCpuSecond],
    [['reading it again, of a second of the processor', again.perCpuSecond]],
  );
}
