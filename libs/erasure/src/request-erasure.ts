import { beginErasure, erasuresOf, type Erasure } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { countReadModelRows } from '#lib/projection';
import type { Pool } from '#lib/storage';

export interface RequestPorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** queues what is left to do; where that waits or runs already, nothing is queued */
  readonly finish: (runId: string) => Promise<void>;
}

/**
 * Erases a run: at once as far as anybody can see, and the bytes soon after. Asked for again it goes on where it was
 * left, and the first tombstone stays.
 *
 * @param onlyAt only where the run has so many events and no more
 * @returns the tombstone; null where the run went on since `onlyAt`
 */
export async function requestErasure(
  { pool, finish }: RequestPorts,
  runId: string,
  request: { readonly reason: string; readonly requestedBy: string; readonly onlyAt?: number },
): Promise<Erasure | null> {
  await beginErasure(pool, runId, {
    ...request,
    rows: await countReadModelRows(pool, runId),
    fileBytes: await bytesOfFiles(pool, runId),
  });
  const [erasure] = await erasuresOf(pool, [runId]);
  if (!erasure) return null;
  if (erasure.finishedAt === null) await finish(runId);
  return erasure;
}

/** Of the segments and the credit of a run. */
async function bytesOfFiles(pool: Pool, runId: string): Promise<number> {
  const { rows } = await pool.query(
    `select coalesce((select sum(bytes) from segment where run_id = $1), 0)::float8
       + coalesce((select sum(bytes) from credit_result where run_id = $1), 0)::float8 as bytes
     from run where id = $1`,
    [runId],
  );
  if (rows.length === 0) throw new RecreditError('run.unknown', `no run has the id ${runId}`);
  return rows[0].bytes;
}
