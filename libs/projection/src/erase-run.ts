import type { Queryable } from '#lib/storage';
import { START } from './checkpoint.js';
import { dropReadModels } from './drop-read-models.js';
import { NO_PROGRESS } from './run-progress.projection.js';
import type { Progress } from './working-set.js';

/**
 * Leaves nothing of an erased run but that it is erased: what the projection of its log comes to when nothing but
 * run.erased can be read. Files are removed by whoever erases it.
 */
export async function eraseRun(
  db: Queryable,
  runId: string,
  progress: Progress,
  { at, reason }: { readonly at: Date; readonly reason: string | null },
): Promise<void> {
  await dropReadModels(db, runId);
  const { position } = progress.checkpoint;
  Object.assign(progress.run, NO_PROGRESS, {
    state: 'erased',
    endReason: reason,
    position,
    endedAt: at,
    lastEventAt: at,
  });
  Object.assign(progress.checkpoint, START, { position });
}
