import { openSegment, stepBatch } from '#lib/columnar';
import { comparesTexts, needsOf, type AnyEstimator } from '#lib/credit';
import { levelOf, type TrajectoryBatch } from '#lib/dataset';
import { sampleAsksForTokens } from '#lib/diagnostics';
import type { ShardFiles } from './shard-files.js';
import type { ShardTask } from './shard-task.js';

type TaskEstimator = ShardTask['estimators'][number];

/** What is read of a shard's segments beside the numbers of trajectories and turns. */
interface Reading {
  readonly texts: boolean;
  /** the values of tokens, which are most of a segment */
  readonly tokens: boolean;
}

/**
 * The trajectories of a shard, with their texts only where an estimator reads them. Where the task says that it may do,
 * the values of tokens stay in their files, unless an estimator or the comparison asks for them.
 */
export async function shardTrajectories(
  files: ShardFiles,
  task: ShardTask,
  catalogue: readonly AnyEstimator[],
): Promise<TrajectoryBatch> {
  const asked = task.estimators.filter(({ known }) => known !== 'missing');
  const texts = asked.some((each) => readsTexts(each, catalogue));
  const whole = { texts, tokens: true };
  if (!task.leavesTokens || asked.some((each) => readsTokens(each, catalogue))) return opened(files, task, whole);
  const trajectories = await opened(files, task, { texts, tokens: false });
  return sampleAsksForTokens(task.runId, trajectories, task.sampleRate) ? opened(files, task, whole) : trajectories;
}

async function opened(files: ShardFiles, task: ShardTask, { texts, tokens }: Reading): Promise<TrajectoryBatch> {
  const read = (key: string) => (tokens ? files.read(key) : files.readHead(key));
  const segments = await Promise.all(
    task.segments.map(async ({ numericKey, textKey }) => {
      const [numeric, text] = await Promise.all([read(numericKey), texts ? read(textKey) : undefined]);
      return openSegment(numeric, text);
    }),
  );
  return stepBatch(segments, task);
}

function readsTexts({ id, params, states, known }: TaskEstimator, catalogue: readonly AnyEstimator[]): boolean {
  const estimator = catalogue.find((each) => each.id === id);
  // the credit of one that learns is not looked at again once it is known
  if (known === 'credit' && estimator?.device) return false;
  if (states && comparesTexts(states)) return true;
  return estimator !== undefined && needsOf(estimator, params).texts;
}

/** A user's own is given all that there is; of what somebody else's version said, nobody knows the level. */
function readsTokens({ id, version, hash, params }: TaskEstimator, catalogue: readonly AnyEstimator[]): boolean {
  const estimator = catalogue.find((each) => each.id === id);
  if (!estimator || estimator.version !== version || estimator.hash || hash) return true;
  const { requires, accepts } = needsOf(estimator, params);
  // credit of tokens is read beside their mask
  return estimator.levels.includes('token') || [...requires, ...accepts].some((path) => levelOf(path) === 'token');
}
