import type { Queryable } from '#lib/storage';

/** A run that its project keeps no longer. */
export interface ExpiredRun {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly retentionDays: number;
  /** how many events it has: with more it is not expired any more */
  readonly position: number;
  /** when the last of them came, by the database's clock */
  readonly lastReceivedAt: Date;
}

/**
 * The runs whose time is over, longest first: they ended, the projector has seen all of them, and for the days that
 * their project keeps runs nothing came. What comes after the end, such as an annotation or an analysis, makes the days
 * begin anew. It is the database's clock that counts: a file imported today is a run of today.
 */
export async function expiredRuns(db: Queryable, now: Date, limit = 100): Promise<ExpiredRun[]> {
  const { rows } = await db.query(
    `select run.id, run.name, project.name as project, retention_days as "retentionDays",
       next_position::float8 as position, last.received_at as "lastReceivedAt"
     from project join run on run.project_id = project.id
     join run_stream on run_stream.run_id = run.id join run_progress on run_progress.run_id = run.id
     cross join lateral (
       select received_at from event_batch where run_id = run.id order by first_position desc limit 1
     ) as last
     where retention_days is not null and erased_position is null
       and run_progress.state in ('completed', 'failed', 'stopped') and run_progress.position = next_position
       and last.received_at < $1::timestamptz - make_interval(days => retention_days)
     order by last.received_at, run.id limit $2`,
    [now, limit],
  );
  return rows;
}
