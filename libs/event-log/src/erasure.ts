import { RecreditError } from '#lib/kernel';
import type { Pool } from 'pg';
import { APPEND_CHANNEL } from './append-notices.js';
import { appendNext } from './append-own.js';
import { lockRun } from './lock-run.js';
import type { Queryable } from './queryable.js';
import { sealPayload } from './seal.js';
import { transact } from './transaction.js';
import { unavailable } from './unavailable.js';

/** The tombstone of a run. */
export interface Erasure {
  readonly runId: string;
  /** of run.erased: the payloads before it are gone or going */
  readonly position: number;
  readonly reason: string;
  /** id of a key, or who else asked for it */
  readonly requestedBy: string;
  readonly requestedAt: Date;
  /** of read models */
  readonly rows: number;
  /** purged so far */
  readonly batches: number;
  /** of their payloads, as they were stored */
  readonly payloadBytes: number;
  /** of segments and credit, removed */
  readonly files: number;
  readonly fileBytes: number;
  /** that the database gave back to the file system */
  readonly databaseBytes: number;
  /** null: not all of it is gone yet */
  readonly finishedAt: Date | null;
}

export interface ErasureRequest {
  readonly reason: string;
  readonly requestedBy: string;
  /** how many rows of read models the run has */
  readonly rows: number;
  /** of segments and credit */
  readonly fileBytes?: number;
  /** only where the run has so many events and no more */
  readonly onlyAt?: number;
}

/**
 * Erases a run in one transaction: run.erased becomes its last event, and a tombstone says why. From then on nothing is
 * appended to it and nothing of it is projected; its payloads are gone when `purgePayloads` has nothing left.
 *
 * @returns false: nothing was done, since it is erased already, or went on since `onlyAt`
 * @throws RecreditError `run.unknown`, `database.unavailable`
 */
export async function beginErasure(
  pool: Pool,
  runId: string,
  { reason, requestedBy, rows, fileBytes = 0, onlyAt }: ErasureRequest,
): Promise<boolean> {
  const event = { type: 'run.erased', at: new Date().toISOString(), reason };
  const sealed = await sealPayload(Buffer.from(`${JSON.stringify(event)}\n`), 1);
  const begun = await transact(pool, '*', async (client) => {
    const { nextPosition, erasedPosition } = await lockRun(client, runId);
    if (erasedPosition !== null || (onlyAt !== undefined && nextPosition !== onlyAt)) return false;
    const [position] = await appendNext(client, runId, sealed);
    await client.query('select begin_erasure($1, $2, $3, $4, $5)', [runId, position, reason, requestedBy, rows]);
    await client.query('select note_erasure($1, 0, $2, 0, false)', [runId, fileBytes]);
    return true;
  }).catch((error: unknown) => {
    throw unavailable(error);
  });
  if (begun) await pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, runId]).catch(() => {});
  return begun;
}

/**
 * Empties the payloads of the next batches of an erased run; their hashes stay.
 *
 * @returns false: none is left
 */
export async function purgePayloads(db: Queryable, runId: string, atOnce = 500): Promise<boolean> {
  const { rows } = await db.query<{ seen: number }>('select purge_payloads($1, $2) as seen', [runId, atOnce]);
  return rows[0].seen > 0;
}

/** The tombstones of these runs; a run that has none is left out. */
export async function erasuresOf(db: Queryable, runIds: readonly string[]): Promise<Erasure[]> {
  const { rows } = await db.query<Erasure>(
    `select run_id as "runId", position::float8 as position, reason, requested_by as "requestedBy",
       requested_at as "requestedAt", row_count::float8 as rows, batch_count::float8 as batches,
       payload_bytes::float8 as "payloadBytes", file_count::float8 as files, file_bytes::float8 as "fileBytes",
       database_bytes::float8 as "databaseBytes", finished_at as "finishedAt"
     from run_erasure where run_id = any ($1)`,
    [runIds],
  );
  return rows;
}

/** @throws RecreditError `run.erased` */
export async function assertNotErased(db: Queryable, runIds: readonly string[]): Promise<void> {
  const [erased] = await erasuresOf(db, runIds);
  if (!erased) return;
  const { runId, position, requestedAt, reason } = erased;
  const message = `run ${runId} was erased on ${requestedAt.toISOString().slice(0, 10)} (${reason}): its hashes are left, and nothing else`;
  throw new RecreditError('run.erased', message, { run: runId, position });
}
