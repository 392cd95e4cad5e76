import { openCredit, type CreditFile } from '#lib/columnar';
import type { Queryable, SegmentStore } from '#lib/storage';
import type { ChosenEstimator } from './request.js';
import { creditFileKey } from './shard-task.js';

/** The credit of one estimator in one shard; null where a signal was missing or the shard is not done. */
export interface ShardCredit {
  readonly label: string;
  readonly file: CreditFile | null;
}

interface CreditRow {
  readonly estimators: readonly ChosenEstimator[];
  readonly results: readonly string[];
  readonly known: readonly string[] | null;
}

/** What each estimator of an analysis says about a training step of a run, in the order of the analysis. */
export async function shardCredits(
  db: Queryable,
  store: SegmentStore,
  shard: { readonly analysisId: string; readonly runId: string; readonly trainingStep: number },
): Promise<ShardCredit[]> {
  const { rows } = await db.query(
    `select analysis.estimators, shard.inputs -> 'results' as results,
       (select json_agg(key) from credit_result
        where outcome = 'credit' and key in (select jsonb_array_elements_text(shard.inputs -> 'results'))) as known
     from analysis_shard shard join analysis on analysis.id = shard.analysis_id
     where shard.analysis_id = $1 and shard.run_id = $2 and shard.training_step = $3 and shard.state = 'done'`,
    [shard.analysisId, shard.runId, shard.trainingStep],
  );
  const row: CreditRow | undefined = rows[0];
  if (!row) return [];
  const known = new Set(row.known);
  return Promise.all(
    row.estimators.map(async ({ label }, i) => {
      const key = row.results[i];
      return { label, file: known.has(key) ? openCredit(await store.get(creditFileKey(key))) : null };
    }),
  );
}
