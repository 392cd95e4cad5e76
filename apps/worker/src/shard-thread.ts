import { computeShard, type ShardAnswer, type ShardTask } from '#lib/analysis';
import { openSegmentStore } from '#lib/storage';

/** What a thread needs to compute a shard. */
export interface ThreadTask {
  readonly segments: string;
  readonly task: ShardTask;
}

/** Runs in a thread of the pool, so that the worker's event loop stays free for heartbeats. */
export default async function computeInThread({ segments, task }: ThreadTask): Promise<ShardAnswer> {
  return computeShard(await openSegmentStore(segments), task);
}
