import { setTimeout as sleep } from 'node:timers/promises';
import { READ_MODEL_TABLES } from '#lib/projection';
import type { Pool } from '#lib/storage';

/** What may be written anew for each byte that is given back, and what may be in any case. */
const WORTH = 4;
const SMALL_BYTES = 1024 ** 3;
/** A table is made of whole pages, and every run shares its last ones with others. */
const NEGLIGIBLE_BYTES = 64 * 1024;
const TRIES = 5;
const WAIT_MS = 2_000;
/** Whoever appends to a run of the partition waits so long at most before we begin; then we come again. */
const PATIENCE = '5s';

const SHARED_TABLES = [...READ_MODEL_TABLES, 'credit_result', 'shard_summary'];

/**
 * Gives the space of an erased run back to the file system. The partition of the log is written anew where that is
 * little work for what it frees: appends to the runs in it wait meanwhile. Where it would be much, and in the tables
 * that all runs share, the space is free for the next rows instead.
 *
 * @param purged bytes of the payloads
 * @returns bytes by which the tables became smaller
 */
export async function giveSpaceBack(owner: Pool, runId: string, purged: number): Promise<number> {
  const { rows } = await owner.query(
    'select tableoid::regclass::text as partition from event_batch where run_id = $1 limit 1',
    [runId],
  );
  const partition: string = rows[0].partition;
  const tables = [partition, ...SHARED_TABLES];
  const before = await sizeOf(owner, tables);
  const left = (await sizeOf(owner, [partition])) - purged;
  const isRewritten = left <= Math.max(SMALL_BYTES, WORTH * purged) && (await rewrite(owner, partition, purged));
  for (const table of isRewritten ? SHARED_TABLES : tables) await owner.query(`vacuum ${table}`);
  return Math.max(0, before - (await sizeOf(owner, tables)));
}

/** Rows that an older snapshot may still see survive, so it is done again until they are gone, a few times. */
async function rewrite(owner: Pool, partition: string, purged: number): Promise<boolean> {
  const before = await sizeOf(owner, [partition]);
  let isRewritten = false;
  for (let tries = 1; tries <= TRIES; tries++) {
    isRewritten = (await vacuumFull(owner, partition)) || isRewritten;
    const freed = before - (await sizeOf(owner, [partition]));
    if (purged - freed <= Math.max(NEGLIGIBLE_BYTES, purged / 2) || tries === TRIES) break;
    await sleep(WAIT_MS);
  }
  return isRewritten;
}

/** @returns false: somebody held the table for too long */
async function vacuumFull(owner: Pool, table: string): Promise<boolean> {
  const client = await owner.connect();
  try {
    await client.query(`set lock_timeout = '${PATIENCE}'`);
    await client.query(`vacuum (full, analyze) ${table}`);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === '55P03') return false;
    throw error;
  } finally {
    await client.query('reset lock_timeout').catch(() => {});
    client.release();
  }
}

/** With indexes and what lies out of line. */
async function sizeOf(owner: Pool, tables: readonly string[]): Promise<number> {
  const { rows } = await owner.query(
    'select sum(pg_total_relation_size(name::regclass))::float8 as size from unnest($1::text[]) as name',
    [tables],
  );
  return rows[0].size;
}
