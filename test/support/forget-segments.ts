import type { Queryable } from '#lib/storage';

/** As if no segment of a run had been cut yet: all of it is read from the log. */
export async function forgetSegments(db: Queryable, runId: string): Promise<void> {
  for (const table of ['segment_step', 'segment']) await db.query(`delete from ${table} where run_id = $1`, [runId]);
}
