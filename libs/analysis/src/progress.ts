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

/** How far analyses are, one statement for all of them; those that the caller does not see are left out. */
export async function progressOfEach(db: Queryable, analysisIds: readonly string[]): Promise<Map<string, Progress>> {
  const { rows } = await db.query(
    `with window_start as (
       select analysis_id, greatest(max(finished_at) - make_interval(secs => $2), min(started_at)) as at
       from analysis_shard where analysis_id = any ($1) and state in ('done', 'failed') and started_at is not null
       group by 1
     )
     select analysis.id as "analysisId", analysis.state, count(shard.*)::int as total,
       count(*) filter (where shard.state = 'done')::int as done,
       count(*) filter (where shard.state = 'done' and cached)::int as cached,
       count(*) filter (where shard.state = 'failed')::int as failed,
       count(*) filter (where shard.state = 'running')::int as running,
       (count(*) filter (where shard.started_at is not null and shard.finished_at >= window_start.at)
         / nullif(extract(epoch from max(shard.finished_at) - window_start.at), 0))::float8 as rate
     from analysis left join window_start on window_start.analysis_id = analysis.id
     left join analysis_shard shard on shard.analysis_id = analysis.id
     where analysis.id = any ($1) group by analysis.id, window_start.at`,
    [analysisIds, WINDOW_SECONDS],
  );
  return new Map(
    rows.map((row: Omit<Progress, 'secondsLeft'>) => [row.analysisId, { ...row, secondsLeft: secondsLeftOf(row) }]),
  );
}

/** How far an analysis is. */
export async function progressOf(db: Queryable, analysisId: string): Promise<Progress> {
  const progress = (await progressOfEach(db, [analysisId])).get(analysisId);
  if (progress) return progress;
  throw new RecreditError('analysis.unknown', `no analysis ${analysisId} among those you see`);
}

function secondsLeftOf({ state, total, done, failed, rate }: Omit<Progress, 'secondsLeft'>): number | null {
  if (state === 'planning') return null;
  const left = state === 'running' ? total - done - failed : 0;
  if (left === 0) return 0;
  return rate ? left / rate : null;
}

export async function notifyProgress(db: Queryable, analysisId: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [PROGRESS_CHANNEL, analysisId]);
}
