import { forgetRun } from '#lib/analysis';
import { erasuresOf, purgePayloads } from '#lib/event-log';
import { Projector, segmentFolder } from '#lib/projection';
import type { Pool, SegmentStore } from '#lib/storage';
import { giveSpaceBack } from './give-space-back.js';

/** What was said about a run that neither the projector nor an analysis made. */
const MADE_OF_RUNS = [
  'webhook_delivery',
  'alert',
  'audit',
  'nearest_turns',
  'diagnostic_reading_part',
  'diagnostic_reading',
  'diagnostic_figures',
  'diagnosis',
  'diagnostic_settings',
] as const;

const FILES_AT_ONCE = 16;

export interface ErasurePorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** as the database's owner: nobody else may vacuum */
  readonly owner: Pool;
  readonly store: Pick<SegmentStore, 'put' | 'list' | 'exists' | 'delete'>;
  readonly log?: (message: string, details: object) => void;
}

/**
 * Does what is left of an erasure: read models, files, results, payloads, and the space that all of them took. Killed
 * anywhere and called again it goes on. Whoever still reads the run finds less and less of it, and then nothing.
 */
export async function finishErasure(
  { pool, owner, store, log }: ErasurePorts,
  runId: string,
  signal?: AbortSignal,
): Promise<void> {
  const [erasure] = await erasuresOf(pool, [runId]);
  if (!erasure || erasure.finishedAt !== null) return;

  // waits for whoever is at it: afterwards nobody cuts a segment of this run any more
  const projector = new Projector({ pool, store });
  await projector.projectRun(runId);
  await projector.stop();
  for (const table of MADE_OF_RUNS) await pool.query(`delete from ${table} where run_id = $1`, [runId]);
  const files = [...(await store.list(segmentFolder(runId))), ...(await forgetRun(pool, runId))];
  const removed = await remove(store, files);
  await note(pool, runId, { files: removed });

  do signal?.throwIfAborted();
  while (await purgePayloads(pool, runId));
  const { payloadBytes } = (await erasuresOf(pool, [runId]))[0];
  const given = await giveSpaceBack(owner, runId, payloadBytes);
  await note(pool, runId, { databaseBytes: given, isAll: true });
  const [{ rows, batches, fileBytes, databaseBytes }] = await erasuresOf(pool, [runId]);
  log?.('a run was erased', { run: runId, rows, batches, payloadBytes, fileBytes, databaseBytes });
}

/** @returns how many of them there were */
async function remove(store: ErasurePorts['store'], keys: readonly string[]): Promise<number> {
  let removed = 0;
  for (let start = 0; start < keys.length; start += FILES_AT_ONCE) {
    const there = await Promise.all(
      keys.slice(start, start + FILES_AT_ONCE).map(async (key) => {
        const exists = await store.exists(key);
        if (exists) await store.delete(key);
        return exists;
      }),
    );
    removed += there.filter(Boolean).length;
  }
  return removed;
}

async function note(
  pool: Pool,
  runId: string,
  { files = 0, databaseBytes = 0, isAll = false }: { files?: number; databaseBytes?: number; isAll?: boolean },
): Promise<void> {
  await pool.query('select note_erasure($1, $2, 0, $3, $4)', [runId, files, databaseBytes, isAll]);
}
