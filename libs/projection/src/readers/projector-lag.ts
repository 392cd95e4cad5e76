import type { Queryable } from '#lib/storage';

/** How far the read models are behind the log. */
export interface ProjectorLag {
  /** of all runs */
  readonly events: number;
  readonly laggingRuns: number;
  /** those that lag most, most first */
  readonly runs: readonly { readonly run: string; readonly events: number }[];
}

/** @param named how many runs are told by their ids */
export async function projectorLag(db: Queryable, named: number): Promise<ProjectorLag> {
  const { rows } = await db.query(
    `select run_id as run, (next_position - coalesce(position, 0))::float8 as events,
       count(*) over ()::int as "laggingRuns", sum(next_position - coalesce(position, 0)) over ()::float8 as total
     from run_stream left join projection_checkpoint using (run_id)
     where next_position > coalesce(position, 0)
     order by events desc, run_id limit $1`,
    [named],
  );
  const { laggingRuns = 0, total = 0 } = rows[0] ?? {};
  return { events: total, laggingRuns, runs: rows.map(({ run, events }) => ({ run, events })) };
}
