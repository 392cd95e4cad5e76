import type { Comparison } from '#lib/diagnostics';
import { inTransaction, type Pool, type PoolClient } from '#lib/storage';
import { failAnalysis } from './finish-analysis.js';
import { creditFileKey } from './shard-task.js';

/**
 * Takes out of all analyses what was computed from an erased run: results and summaries, and of comparisons what names
 * its trajectories; a comparison of erased runs alone goes as a whole. What is under way over the run fails. May be
 * called again.
 *
 * @returns keys of the credit files that the run has, or might have
 */
export async function forgetRun(pool: Pool, runId: string): Promise<string[]> {
  const { rows: open } = await pool.query(
    `select id from analysis join analysis_run on analysis_id = id where run_id = $1 and state in ('planning', 'running')`,
    [runId],
  );
  for (const { id } of open) await failAnalysis(pool, id, `run ${runId} was erased`);
  return inTransaction(pool, async (client) => {
    await lockResults(client, runId, 'alone');
    const { rows } = await client.query(
      `select key from credit_result where run_id = $1
       union select jsonb_array_elements_text(inputs -> 'results') from analysis_shard where run_id = $1`,
      [runId],
    );
    await client.query('select drop_credit($1)', [runId]);
    await client.query(`update analysis_shard set reason = null where run_id = $1 and reason is not null`, [runId]);
    await thinComparisons(client, runId);
    return rows.map(({ key }: { key: string }) => creditFileKey(key));
  });
}

/**
 * Results of a run are stored beside each other, and not while they are dropped. To be taken before a statement that
 * asks whether the run is erased.
 */
export async function lockResults(client: PoolClient, runId: string, how: 'alone' | 'shared'): Promise<void> {
  const lock = how === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await client.query(`select ${lock}(hashtextextended('results of ' || $1, 0))`, [runId]);
}

/** What names trajectories of the run is taken out; of a comparison over erased runs alone nothing is left. */
async function thinComparisons(client: PoolClient, runId: string): Promise<void> {
  const { rows } = await client.query(
    `select id, comparison, exists (
       select from analysis_run other where other.analysis_id = analysis.id
         and not exists (select from run_erasure where run_erasure.run_id = other.run_id)
     ) as others
     from analysis where comparison is not null and id in (select analysis_id from analysis_run where run_id = $1)
     order by id for update`,
    [runId],
  );
  for (const { id, comparison, others } of rows as ComparedRuns[]) {
    const thinned = others ? JSON.stringify(withoutRun(comparison, runId)) : null;
    await client.query('update analysis set comparison = $2 where id = $1', [id, thinned]);
  }
}

interface ComparedRuns {
  readonly id: string;
  readonly comparison: Comparison;
  /** whether it speaks of runs that are not erased */
  readonly others: boolean;
}

function withoutRun(comparison: Comparison, runId: string): Comparison {
  const ofOthers = <Turn extends { readonly run: string }>(turns: readonly Turn[]) =>
    turns.filter(({ run }) => run !== runId);
  return {
    ...comparison,
    disputed: ofOthers(comparison.disputed),
    pairs: comparison.pairs.map((pair) => ({ ...pair, disputed: ofOthers(pair.disputed) })),
  };
}
