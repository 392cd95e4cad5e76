import { createHash } from 'node:crypto';
import { encodeSegment } from '#lib/columnar';
import { trajectoryBatch } from '#lib/dataset';
import type { Queryable, SegmentStore } from '#lib/storage';
import type { RecentTurns } from './recent-turns.js';
import { positionsOf, recordsOf } from './segment-records.js';
import { storeSegment } from './store-segment.js';
import { waitingTrajectories } from './waiting-trajectories.js';
import type { Checkpoint } from './checkpoint.js';

export interface CutPorts {
  readonly store: Pick<SegmentStore, 'put'>;
  readonly recent?: RecentTurns | undefined;
}

/**
 * Puts the finished trajectories that wait into a segment: reads what it does not remember from the log again, stores the files, then
 * the rows that name them. What was folded so far must be stored before. A crash after the files leaves them to the next try, which
 * writes the same bytes under the same keys.
 */
export async function cutSegment(
  db: Queryable,
  runId: string,
  checkpoint: Checkpoint,
  { store, recent }: CutPorts,
): Promise<void> {
  if (checkpoint.waitingTrajectories === 0) return;
  const waiting = await waitingTrajectories(db, runId);
  const trajectories = trajectoryBatch(await recordsOf(db, runId, waiting, recent?.of(runId)));
  const files = encodeSegment(
    trajectories,
    Float64Array.from(waiting, (row) => row.endPosition),
    waiting.map((row) => row.parent?.trajectory ?? null),
  );
  const ordinal = checkpoint.segmentCount;
  const numeric = await putFile(store, runId, ordinal, '.arrow', files.numeric);
  const text = await putFile(store, runId, ordinal, '.text.arrow', files.text);
  const segment = {
    ordinal,
    endPosition: checkpoint.position,
    numericKey: numeric.key,
    numericSha256: numeric.sha256,
    textKey: text.key,
    textSha256: text.sha256,
    bytes: files.numeric.length + files.text.length,
  };
  await storeSegment(db, runId, segment, waiting);
  recent?.drop(runId, positionsOf(waiting));
  checkpoint.segmentCount++;
  checkpoint.waitingTrajectories = 0;
  checkpoint.waitingTurns = 0;
  checkpoint.waitingBytes = 0;
}

/** The folder of a run's segments. */
export function segmentFolder(runId: string): string {
  return `segments/${runId}/`;
}

async function putFile(
  store: Pick<SegmentStore, 'put'>,
  runId: string,
  ordinal: number,
  suffix: string,
  bytes: Uint8Array,
) {
  const sha256 = createHash('sha256').update(bytes).digest();
  const key = `${segmentFolder(runId)}${ordinal}-${sha256.toString('hex', 0, 8)}${suffix}`;
  await store.put(key, bytes);
  return { key, sha256 };
}
