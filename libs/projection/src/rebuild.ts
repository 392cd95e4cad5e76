import type { Pool, SegmentStore } from '#lib/storage';
import { segmentFolder } from './cut-segment.js';
import { Projector, type ProjectorParts } from './projector.js';
import { projectedPosition } from './readers/projected-position.js';
import { withRun } from './run-lock.js';

export interface Rebuilt {
  readonly runId: string;
  readonly events: number;
}

/**
 * Drops all that was made of the log of a run, or (null) of every run, and makes it again: the same rows and, from the same
 * version of the platform, the same files. Until a run is made, readers see it as it was. Files that no segment names
 * afterwards are removed.
 */
export async function rebuild(
  pool: Pool,
  store: Pick<SegmentStore, 'put' | 'list' | 'delete'>,
  runId: string | null,
  options: Omit<ProjectorParts, 'pool' | 'store'> = {},
): Promise<Rebuilt[]> {
  const projector = new Projector({ ...options, pool, store });
  const rebuilt: Rebuilt[] = [];
  try {
    for (const id of runId === null ? await runsWithEvents(pool) : [runId]) {
      await projector.rebuildRun(id);
      rebuilt.push({ runId: id, events: await projectedPosition(pool, id) });
      await removeStrayFiles(pool, store, id);
    }
  } finally {
    await projector.stop();
  }
  return rebuilt;
}

async function runsWithEvents(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query('select run_id as "runId" from run_stream order by run_id');
  return rows.map(({ runId }) => runId);
}

async function removeStrayFiles(
  pool: Pool,
  store: Pick<SegmentStore, 'list' | 'delete'>,
  runId: string,
): Promise<void> {
  await withRun(pool, runId, true, async (client) => {
    const { rows } = await client.query('select numeric_key, text_key from segment where run_id = $1', [runId]);
    const named = new Set(rows.flatMap((row) => [row.numeric_key, row.text_key]));
    for (const key of await store.list(segmentFolder(runId))) if (!named.has(key)) await store.delete(key);
  });
}
