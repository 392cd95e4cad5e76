import { encodeCredit, openCredit } from '#lib/columnar';
import {
  AS_RECORDED,
  ESTIMATORS,
  findEstimator,
  identifyStates,
  runEstimator,
  runLater,
  turnCredit,
  type AnyEstimator,
  type Credit,
  type LaterEstimation,
  type Outcome,
} from '#lib/credit';
import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { encodeSummary, summarizeShard, type StabilitySums } from '#lib/diagnostics';
import { canonicalJson, messageOf, RecreditError } from '#lib/kernel';
import { FileMemory, type SegmentStore } from '#lib/storage';
import { stabilityOf } from './measure-stability.js';
import { ShardFiles } from './shard-files.js';
import { creditFileKey, type ShardAnswer, type ShardResult, type ShardTask } from './shard-task.js';
import { shardTrajectories } from './shard-trajectories.js';
import { withTags } from './with-tags.js';

/** Turn signals that say how good a turn really was, in the order in which comparisons show them. */
export const TRUTHS = ['exactAdvantage', 'humanLabel', 'judgeLabel', 'processReward', 'mcValue'] as const;

/** The most disputed turns that a shard remembers. */
const DISPUTED_TURNS = 64;
/** Where an estimator says nothing else: the processor, in float64. */
const PROCESSOR = 'cpu';

type TaskEstimator = ShardTask['estimators'][number];

/** The estimators that a shard may be computed by, how states are identified, and how one of them is run. */
export interface Estimation extends LaterEstimation {
  readonly catalogue: readonly AnyEstimator[];
}

const OURS: Estimation = {
  catalogue: ESTIMATORS,
  identify: async (trajectories, identity) => ({ trajectories: identifyStates(trajectories, identity), warnings: [] }),
  run: runEstimator,
};

/** Files of shards lie in memory that is used again; what is kept unused, at most, in each thread. */
const memory = new FileMemory(32 * 2 ** 20);

/**
 * Computes a shard from files to files: reads its segments, runs the estimators whose credit is not known yet, stores
 * their credit, and summarises all of them for the comparison. The same task gives the same bytes. An estimator that fails
 * fails alone, with its reason.
 *
 * Shards that are asked for at the same time are computed one after the other; the files of one are read and written
 * while another is computed.
 */
export async function computeShard(
  store: SegmentStore,
  task: ShardTask,
  estimation: Estimation = OURS,
): Promise<ShardAnswer> {
  const { allocate, giveBack } = memory.lend();
  const files = new ShardFiles(store, allocate);
  try {
    const trajectories = await shardTrajectories(files, task, estimation.catalogue);
    const { results, summary } = await inTurn(() => computed(files, trajectories, task, estimation));
    const written = await Promise.all(results.map((result) => result()));
    return { results: written, summary, device: deviceOf(written) };
  } finally {
    await files.settled();
    giveBack();
  }
}

let last: Promise<unknown> = Promise.resolve();

/** Begins when what was asked for before has ended. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

/** A result, once its file is on disk. */
type Result = () => Promise<ShardResult>;

async function computed(
  files: ShardFiles,
  trajectories: TrajectoryBatch,
  task: ShardTask,
  estimation: Estimation,
): Promise<{ results: Result[]; summary: Uint8Array }> {
  const results: Result[] = [];
  const credits = new Map<string, Float64Array>();
  for (const estimator of task.estimators) {
    if (estimator.known === 'missing') continue;
    const known = estimator.known === 'credit' && (await knownCredit(files, estimator.key));
    if (known) {
      credits.set(estimator.label, turnCredit(trajectories, known));
      continue;
    }
    const { result, credit } = await computeOne(files, trajectories, estimator, estimation);
    results.push(result);
    if (credit) credits.set(estimator.label, turnCredit(trajectories, credit));
  }

  const summary = summarizeShard({
    run: task.runId,
    trajectories: task.tags ? withTags(trajectories, task.tags) : trajectories,
    credits,
    truths: truthsOf(trajectories),
    stability: await stabilities(task, trajectories, credits, estimation),
    sampleRate: task.sampleRate,
    topK: DISPUTED_TURNS,
  });
  return { results, summary: encodeSummary(summary) };
}

/** Null where the file was lost, or is not what was written: it is computed again, and its file is there again. */
async function knownCredit(files: ShardFiles, key: string): Promise<Credit | null> {
  try {
    return openCredit(await files.read(creditFileKey(key))).credit;
  } catch (error) {
    if (error instanceof RecreditError && error.code === 'segment.damaged') return null;
    throw error;
  }
}

/** How far the credit of each estimator hangs on who else was there. One that learns would learn again each time: it is left out. */
async function stabilities(
  { runId: run, sampleRate, estimators }: ShardTask,
  trajectories: TrajectoryBatch,
  credits: ReadonlyMap<string, Float64Array>,
  { catalogue, identify, run: estimate }: Estimation,
): Promise<Map<string, StabilitySums>> {
  const measured = new Map<string, StabilitySums>();
  const byStates = new Map<string, ReturnType<typeof stabilityOf>>();
  for (const { label, id, hash, params, states = AS_RECORDED } of estimators) {
    const credit = credits.get(label);
    const estimator = catalogue.find((each) => each.id === id && each.hash === hash);
    if (!credit || !estimator || estimator.device) continue;
    const wish = canonicalJson(states);
    if (!byStates.has(wish)) {
      const identified = await identify(trajectories, states);
      byStates.set(wish, stabilityOf({ run, trajectories: identified.trajectories, sampleRate }));
    }
    const asked = byStates.get(wish)!(credit, async (some) => {
      const outcome = await estimate(estimator, some, params);
      return outcome.kind === 'credit' ? turnCredit(some, outcome.credit) : null;
    });
    // what is said of fewer trajectories may fail where that of all did not: then nothing is known of it
    const found = await asked.catch(() => null);
    if (found) measured.set(label, found);
  }
  return measured;
}

/** The device that something of the shard needed; the processor, where nothing needed one. */
function deviceOf(results: readonly ShardResult[]): string {
  return results.find(({ device }) => device !== PROCESSOR)?.device ?? PROCESSOR;
}

async function computeOne(
  files: ShardFiles,
  trajectories: TrajectoryBatch,
  { id, version, hash, params, states, key }: TaskEstimator,
  estimation: Estimation,
): Promise<{ result: Result; credit?: Credit }> {
  const started = performance.now();
  const answer = (device: string) => ({ key, seconds: (performance.now() - started) / 1000, device });
  let outcome: Outcome;
  try {
    const estimator = chosen(estimation.catalogue, id, hash);
    outcome = await runLater(estimation, estimator, trajectories, params, states ?? AS_RECORDED);
  } catch (error) {
    const failed = { ...answer(PROCESSOR), kind: 'failed', reason: `${id}: ${messageOf(error)}` } as const;
    return { result: async () => failed };
  }
  if (outcome.kind === 'missing') {
    const missing = { ...answer(PROCESSOR), kind: 'missing', missing: outcome.missing } as const;
    return { result: async () => missing };
  }
  const { credit, warnings, device = PROCESSOR } = outcome;
  const made = { estimator: id, version, ...(hash && { hash }), params, ...(states && { states }) };
  const file = encodeCredit({ ...made, trajectories, credit, warnings }, files.allocate);
  const answered = answer(device);
  const { written } = await files.write(creditFileKey(key), file);
  const result = { ...answered, kind: 'credit', bytes: file.length, warnings } as const;
  return { result: async () => ({ ...result, sha256: await written }), credit };
}

/** A user's estimator is the one that was asked for only while its file is the same. */
function chosen(catalogue: readonly AnyEstimator[], id: string, hash: string | undefined): AnyEstimator {
  const estimator = findEstimator(id, catalogue);
  if (estimator.hash === hash) return estimator;
  throw new RecreditError(
    'estimator.unknown',
    `the file with hash ${hash} was asked for, and this worker has ${estimator.hash ?? 'one of our own'} under that name`,
  );
}

/** The truths that the trajectories carry on at least one turn. */
function truthsOf(trajectories: TrajectoryBatch): Map<string, Float64Array> {
  const truths = new Map<string, Float64Array>();
  for (const name of TRUTHS) {
    const values = numbers(trajectories, `turn.${name}`);
    if (values?.some((value) => !Number.isNaN(value)))
      truths.set(name, values instanceof Float64Array ? values : Float64Array.from(values));
  }
  return truths;
}
