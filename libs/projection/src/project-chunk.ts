import { readEvents, type LoggedEvent } from '#lib/event-log';
import type { Queryable } from '#lib/storage';
import { cutSegment, type CutPorts } from './cut-segment.js';
import { eraseRun } from './erase-run.js';
import { loadWorkingSet, lockProgress } from './load-working-set.js';
import { projectEvents, type SegmentSize } from './project-events.js';
import { rewindRun } from './rewind-run.js';
import { storeChanges, storeProgress } from './store-working-set.js';
import type { Progress } from './working-set.js';

export interface ChunkOptions extends CutPorts {
  readonly maxBatches: number;
  /** of NDJSON */
  readonly maxBytes: number;
  readonly segmentSize: SegmentSize;
}

/**
 * Projects the next events of a run, as part of the caller's transaction, who holds the run's lock.
 *
 * @returns how many events that were; 0 when there are no more
 */
export async function projectChunk(db: Queryable, runId: string, options: ChunkOptions): Promise<number> {
  const progress = await lockProgress(db, runId);
  const events = await readEvents(db, runId, progress.checkpoint.position, options);
  if (events.length === 0) return 0;
  options.recent?.add(runId, events);
  for (const part of upToRewinds(events)) await projectPart(db, runId, progress, part, options);
  await storeProgress(db, runId, progress);
  return events.length;
}

/** What follows a rewind must see the rows as the rewind left them. */
function upToRewinds(events: readonly LoggedEvent[]): LoggedEvent[][] {
  const parts: LoggedEvent[][] = [[]];
  for (const logged of events) {
    parts.at(-1)!.push(logged);
    if (logged.event.type === 'run.rewound') parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}

async function projectPart(
  db: Queryable,
  runId: string,
  progress: Progress,
  events: readonly LoggedEvent[],
  options: ChunkOptions,
): Promise<void> {
  const set = await loadWorkingSet(db, runId, progress, events);
  for (let next = 0; next < events.length;) {
    const { next: after, boundary } = projectEvents(set, events, next, options.segmentSize);
    await storeChanges(db, runId, set);
    if (boundary?.kind === 'erase') {
      await eraseRun(db, runId, progress, boundary);
      options.recent?.forget(runId);
    } else if (boundary) {
      await cutSegment(db, runId, progress.checkpoint, options);
    }
    if (boundary?.kind === 'rewind') {
      await rewindRun(db, runId, progress.run, { ...boundary, position: events[after - 1].position });
    }
    next = after;
  }
}
