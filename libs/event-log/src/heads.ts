import type { Queryable } from './queryable.js';

export interface RunHead {
  readonly runId: string;
  readonly nextPosition: number;
}

/** How many events a run has: the position that the next one will take. */
export async function headOf(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query<{ nextPosition: number }>(
    `select next_position::float8 as "nextPosition" from run_stream where run_id = $1`,
    [runId],
  );
  return rows[0]?.nextPosition ?? 0;
}

/** Where a run's log ends, and the hash over all of it. */
export interface ChainHead {
  readonly position: number;
  /** in hexadecimal */
  readonly chainHash: string;
  /** payloads before it are gone; null: not erased */
  readonly erasedPosition: number | null;
}

/** In the order of the ids; null: the run has no event. */
export async function chainHeads(db: Queryable, runIds: readonly string[]): Promise<(ChainHead | null)[]> {
  const { rows } = await db.query<ChainHead & { runId: string }>(
    `select run_id as "runId", next_position::float8 as position, encode(chain_hash, 'hex') as "chainHash",
       erased_position::float8 as "erasedPosition"
     from run_stream where run_id = any ($1)`,
    [runIds],
  );
  const byRun = new Map(rows.map(({ runId, ...head }) => [runId, head]));
  return runIds.map((id) => byRun.get(id) ?? null);
}

/** The heads of the runs that have events, by run id: a page of those after `after`. */
export async function headsOf(db: Queryable, after = '', limit = 10_000): Promise<RunHead[]> {
  const { rows } = await db.query<RunHead>(
    `select run_id as "runId", next_position::float8 as "nextPosition" from run_stream
     where run_id > $1 order by run_id limit $2`,
    [after, limit],
  );
  return rows;
}
