import type { Queryable } from '#lib/storage';

/** Runs with events that are not projected, those that wait with most of them last. */
export async function laggingRuns(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query(
    `select run_id as "runId"
     from run_stream left join projection_checkpoint using (run_id)
     where next_position > coalesce(position, 0)
     order by next_position - coalesce(position, 0) limit $1`,
    [limit],
  );
  return rows.map(({ runId }) => runId);
}
