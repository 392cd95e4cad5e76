import { RecreditError } from '#lib/kernel';
import type { Queryable } from '#lib/storage';

/** NOTIFY channel; the payload is the analysis's id. A hint to look again, never the news itself. */
export const PROGRESS_CHANNEL = 'analysis_progress';

export type AnalysisState = 'planning' | 'running' | 'completed' | 'failed' | 'cancelled';

export interface Progress {
  readonly analysisId: string;
  readonly state: AnalysisState;
  readonly total: number;
  /** cached ones included */
  readonly done: number;
  readonly cached: number;
  readonly failed: number;
  readonly running: number;
  /** shards per second over the last half minute of computing; null: none was computed yet */
  readonly rate: number | null;
  /** null: not known yet */
  readonly secondsLeft: number | null;
}

/** The latest finished shards that the rate is measured over. */
const WINDOW_SECONDS = 30;

/** How far an analysis is. */
export async function progressOf(db: Queryable, analysisId: string): Promise<Progress> {
  const { rows } = await db.query(
    `with window_start as (
       select greatest(max(finished_at) - make_interval(secs => $2), min(started_at)) as at
       from analysis_shard where analysis_id = $1 and state in ('done', 'failed') and started_at is not null
     )
     select analysis.state, count(shard.*)::int as total,
       count(*) filter (where shard.state = 'done')::int as done,
       count(*) filter (where shard.state = 'done' and cached)::int as cached,
       count(*) filter (where shard.state = 'failed')::int as failed,
       count(*) filter (where shard.state = 'running')::int as running,
       (count(*) filter (where shard.started_at is not null and shard.finished_at >= window_start.at)
         / nullif(extract(epoch from max(shard.finished_at) - window_start.at), 0))::float8 as rate
     from analysis cross join window_start left join analysis_shard shard on shard.analysis_id = analysis.id
     where analysis.id = $1 group by analysis.state, window_start.at`,
    [analysisId, WINDOW_SECONDS],
  );
  const row: Omit<Progress, 'analysisId' | 'secondsLeft'> | undefined = rows[0];
  if (!row) throw new RecreditError('analysis.unknown', `no analysis ${analysisId} among those you see`);
  const left = row.state === 'cancelled' ? 0 : row.total - row.done - row.failed;
  const secondsLeft = row.state === 'planning' ? null : left === 0 ? 0 : row.rate ? left / row.rate : null;
  return { analysisId, ...row, secondsLeft };
}

export async function notifyProgress(db: Queryable, analysisId: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [PROGRESS_CHANNEL, analysisId]);
}
