import { APPEND_CHANNEL } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { inTransaction, type Pool } from '#lib/storage';
import { completeInRuns } from './finish-analysis.js';
import { notifyProgress } from './progress.js';

/**
 * Cancels an analysis. Shards that are being computed end by themselves and their results are kept; what waits is not
 * begun.
 *
 * @throws RecreditError `analysis.ended` where it had ended otherwise; cancelling twice is fine
 */
export async function cancelAnalysis(pool: Pool, analysisId: string): Promise<void> {
  const runs = await inTransaction(pool, async (client) => {
    const { rows } = await client.query(`select state from analysis where id = $1 for update`, [analysisId]);
    const state: string | undefined = rows[0]?.state;
    if (!state) throw new RecreditError('analysis.unknown', `no analysis ${analysisId}`);
    if (state === 'cancelled') return [];
    if (state === 'completed' || state === 'failed') {
      throw new RecreditError('analysis.ended', `analysis ${analysisId} is ${state} and cannot be cancelled`, {
        state,
      });
    }
    await client.query(`update analysis set state = 'cancelled', finished_at = now() where id = $1`, [analysisId]);
    await client.query(
      `update analysis_shard set state = 'cancelled', finished_at = now()
       where analysis_id = $1 and state in ('queued', 'running')`,
      [analysisId],
    );
    return completeInRuns(client, analysisId, 'cancelled');
  });
  await Promise.all(runs.map((run) => pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, run])));
  await notifyProgress(pool, analysisId);
}
