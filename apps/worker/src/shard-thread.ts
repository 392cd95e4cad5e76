import { computeShard, type ShardAnswer, type ShardTask } from '#lib/analysis';
import { comparisonOf, decodeSummary, type Comparison } from '#lib/diagnostics';
import { openSegmentStore } from '#lib/storage';

/** What a thread needs to compute a shard. */
export interface ThreadTask {
  readonly segments: string;
  readonly task: ShardTask;
}

// What takes long runs in a thread of the pool, so that the worker's event loop stays free for heartbeats.

export async function compute({ segments, task }: ThreadTask): Promise<ShardAnswer> {
  return computeShard(await openSegmentStore(segments), task);
}

export function conclude(summary: Uint8Array): Comparison {
  return comparisonOf(decodeSummary(summary));
}
