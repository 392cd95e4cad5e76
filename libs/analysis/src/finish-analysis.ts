import { decodeSummary, encodeSummary, mergeSummaries, type Comparison, type ShardSummary } from '#lib/diagnostics';
import { APPEND_CHANNEL, appendOwn } from '#lib/event-log';
import { inTransaction, type Pool, type PoolClient, type Queryable } from '#lib/storage';
import { notifyProgress, type AnalysisState } from './progress.js';

const PAGE = 200;

export interface FinishPorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** what a merged summary, encoded, comes to; takes seconds for a large analysis, so it runs in a thread of its own */
  readonly conclude: (summary: Uint8Array) => Promise<Comparison>;
}

/**
 * Finishes an analysis when no shard waits or runs any more: merges the summaries of its shards into the comparison and
 * tells each run. Whoever ends the last shard calls it, perhaps two at once; one of them finds something to do.
 */
export async function finishIfDone({ pool, conclude }: FinishPorts, analysisId: string): Promise<void> {
  if (!(await isDone(pool, analysisId))) return;
  const summary = await mergedSummary(pool, analysisId);
  const comparison = summary && (await conclude(encodeSummary(summary)));
  const runs = await inTransaction(pool, async (client) => {
    await client.query(`select from analysis where id = $1 for update`, [analysisId]);
    if (!(await isDone(client, analysisId))) return [];
    const state = await finalState(client, analysisId);
    await client.query(`update analysis set state = $2, comparison = $3, finished_at = now() where id = $1`, [
      analysisId,
      state,
      comparison && JSON.stringify(comparison),
    ]);
    return completeInRuns(client, analysisId, state);
  });
  await Promise.all(runs.map((run) => pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, run])));
  await notifyProgress(pool, analysisId);
}

/** It could not be planned, or not be finished: the analysis fails as a whole, with its reason. */
export async function failAnalysis(pool: Pool, analysisId: string, reason: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `update analysis set state = 'failed', failure = $2, finished_at = now() where id = $1 and state in ('planning', 'running')`,
      [analysisId, reason],
    );
    if (rowCount === 0) return;
    await client.query(
      `update analysis_shard set state = 'cancelled', finished_at = now()
       where analysis_id = $1 and state in ('queued', 'running')`,
      [analysisId],
    );
  });
  await notifyProgress(pool, analysisId);
}

async function isDone(db: Queryable, analysisId: string): Promise<boolean> {
  const { rows } = await db.query(
    `select from analysis where id = $1 and state = 'running' and not exists
       (select from analysis_shard where analysis_id = $1 and state in ('queued', 'running'))`,
    [analysisId],
  );
  return rows.length > 0;
}

/** Failed when shards failed and none is done; an analysis with some failed shards is completed and shows them. */
async function finalState(db: Queryable, analysisId: string): Promise<AnalysisState> {
  const { rows } = await db.query(
    `select bool_or(state = 'failed') and not bool_or(state = 'done') as failed from analysis_shard where analysis_id = $1`,
    [analysisId],
  );
  return rows[0].failed ? 'failed' : 'completed';
}

/** What the finished shards say together, merged in the order of runs and training steps; null where none is done. */
async function mergedSummary(db: Queryable, analysisId: string): Promise<ShardSummary | null> {
  let merged: ShardSummary | null = null;
  for (let offset = 0; ; offset += PAGE) {
    const { rows } = await db.query(
      `select payload from analysis_shard join shard_summary on shard_summary.key = inputs ->> 'summary'
       where analysis_id = $1 and state = 'done' order by analysis_shard.run_id, training_step offset $2 limit $3`,
      [analysisId, offset, PAGE],
    );
    const page = rows.map(({ payload }: { payload: Uint8Array }) => decodeSummary(payload));
    if (page.length > 0) merged = mergeSummaries(...(merged ? [merged] : []), ...page);
    if (rows.length < PAGE) return merged;
  }
}

/** Tells each run of the analysis that is not erased how it ended. @returns the runs, to be announced when that is committed */
export async function completeInRuns(client: PoolClient, analysisId: string, state: AnalysisState): Promise<string[]> {
  const { rows } = await client.query(
    `select run_id as run from analysis_run
     where analysis_id = $1 and not exists (select from run_erasure where run_erasure.run_id = analysis_run.run_id)
     order by run_id`,
    [analysisId],
  );
  const ended = state === 'completed' || state === 'cancelled' ? state : 'failed';
  for (const { run } of rows) {
    const at = new Date().toISOString();
    await appendOwn(client, run, [{ type: 'analysis.completed', at, analysis: analysisId, state: ended }]);
  }
  return rows.map(({ run }: { run: string }) => run);
}
