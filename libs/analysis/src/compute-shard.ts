import { createHash } from 'node:crypto';
import { encodeCredit, openCredit, openSegment, stepBatch } from '#lib/columnar';
import {
  AS_RECORDED,
  comparesTexts,
  ESTIMATORS,
  findEstimator,
  identifyStates,
  needsOf,
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
import type { SegmentStore } from '#lib/storage';
import { stabilityOf } from './measure-stability.js';
import { creditFileKey, type ShardAnswer, type ShardResult, type ShardTask } from './shard-task.js';
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

/**
 * Computes a shard from files to files: reads its segments, runs the estimators whose credit is not known yet, stores
 * their credit, and summarises all of them for the comparison. The same task gives the same bytes. An estimator that fails
 * fails alone, with its reason.
 */
export async function computeShard(
  store: SegmentStore,
  task: ShardTask,
  estimation: Estimation = OURS,
): Promise<ShardAnswer> {
  const trajectories = await loadTrajectories(store, task, estimation);
  const results: ShardResult[] = [];
  const credits = new Map<string, Float64Array>();
  for (const estimator of task.estimators) {
    if (estimator.known === 'missing') continue;
    // a result whose file was lost is computed again, and its file is there again
    if (estimator.known === 'credit' && (await store.exists(creditFileKey(estimator.key)))) {
      const { credit } = openCredit(await store.get(creditFileKey(estimator.key)));
      credits.set(estimator.label, turnCredit(trajectories, credit));
      continue;
    }
    const { result, credit } = await computeOne(store, trajectories, estimator, estimation);
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
  return { results, summary: encodeSummary(summary), device: deviceOf(results) };
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

/** The trajectories of a shard, with their texts only where an estimator reads them. */
async function loadTrajectories(
  store: SegmentStore,
  task: ShardTask,
  { catalogue }: Estimation,
): Promise<TrajectoryBatch> {
  const { trainingStep, asOf, from, annotations } = task;
  const readsTexts = ({ id, params, states, known }: TaskEstimator) => {
    const estimator = catalogue.find((each) => each.id === id);
    // the credit of one that learns is not looked at again once it is known
    if (known === 'credit' && estimator?.device) return false;
    if (states && comparesTexts(states)) return true;
    return estimator !== undefined && needsOf(estimator, params).texts;
  };
  const withTexts = task.estimators.some((each) => each.known !== 'missing' && readsTexts(each));
  const segments = await Promise.all(
    task.segments.map(async ({ numericKey, textKey }) => {
      const [numeric, text] = await Promise.all([store.get(numericKey), withTexts ? store.get(textKey) : undefined]);
      return openSegment(numeric, text);
    }),
  );
  return stepBatch(segments, { trainingStep, asOf, from, annotations });
}

async function computeOne(
  store: SegmentStore,
  trajectories: TrajectoryBatch,
  { id, version, hash, params, states, key }: TaskEstimator,
  estimation: Estimation,
): Promise<{ result: ShardResult; credit?: Credit }> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  let outcome: Outcome;
  try {
    const estimator = chosen(estimation.catalogue, id, hash);
    outcome = await runLater(estimation, estimator, trajectories, params, states ?? AS_RECORDED);
  } catch (error) {
    const reason = `${id}: ${messageOf(error)}`;
    return { result: { key, seconds: seconds(), device: PROCESSOR, kind: 'failed', reason } };
  }
  if (outcome.kind === 'missing')
    return { result: { key, seconds: seconds(), device: PROCESSOR, kind: 'missing', missing: outcome.missing } };
  const { credit, warnings, device = PROCESSOR } = outcome;
  const made = { estimator: id, version, ...(hash && { hash }), params, ...(states && { states }) };
  const file = encodeCredit({ ...made, trajectories, credit, warnings });
  await store.put(creditFileKey(key), file);
  const sha256 = createHash('sha256').update(file).digest('hex');
  return { result: { key, seconds: seconds(), device, kind: 'credit', sha256, bytes: file.length, warnings }, credit };
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
    if (values?.some((value) => !Number.isNaN(value))) truths.set(name, Float64Array.from(values));
  }
  return truths;
}
