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

/** The heads of the runs that have events, by run id: a page of those after `after`. */
export async function headsOf(db: Queryable, after = '', limit = 10_000): Promise<RunHead[]> {
  const { rows } = await db.query<RunHead>(
    `select run_id as "runId", next_position::float8 as "nextPosition" from run_stream
     where run_id > $1 order by run_id limit $2`,
    [after, limit],
  );
  return rows;
}
