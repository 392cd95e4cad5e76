import { messageOf, RecreditError } from '#lib/kernel';
import { annotationsOf, tagsOf } from '#lib/projection';
import { inTransaction, type Pool, type PoolClient } from '#lib/storage';
import { failAnalysis, finishIfDone, type FinishPorts } from './finish-analysis.js';
import { lockResults } from './forget-run.js';
import type { ShardAddress } from './plan-analysis.js';
import { notifyProgress } from './progress.js';
import type { ChosenEstimator } from './request.js';
import { creditFileKey, type ShardAnswer, type ShardPlan, type ShardResult, type ShardTask } from './shard-task.js';

export interface ShardPorts extends FinishPorts {
  /** computes in a thread of its own; credit files are in the store when it returns */
  compute(task: ShardTask): Promise<ShardAnswer>;
  /** removes files of a run that was erased while they were computed */
  discard?(fileKeys: readonly string[]): Promise<void>;
}

interface ClaimedShard {
  readonly plan: ShardPlan;
  readonly estimators: readonly ChosenEstimator[];
}

/**
 * Computes one shard: what is not known yet of its results, and its summary. May be called twice, by two workers at
 * once even: results are addressed by content and stored once.
 *
 * @throws what went wrong, so that the queue tries again
 */
export async function runShard(ports: ShardPorts, address: ShardAddress): Promise<void> {
  const claimed = await claim(ports.pool, address);
  if (claimed) {
    try {
      await computeAndStore(ports, address, claimed);
    } catch (error) {
      await release(ports.pool, address, messageOf(error));
      throw error;
    }
  }
  await finishIfDone(ports, address.analysisId);
}

/** No try is left: the shard fails alone, with its reason, and the analysis goes on without it. */
export async function failShard(
  ports: FinishPorts,
  { analysisId, runId, trainingStep }: ShardAddress,
  reason: string,
): Promise<void> {
  const { pool } = ports;
  await pool.query(
    `update analysis_shard set state = 'failed', reason = $4, finished_at = now()
     where analysis_id = $1 and run_id = $2 and training_step = $3 and state in ('queued', 'running')`,
    [analysisId, runId, trainingStep, reason],
  );
  await notifyProgress(pool, analysisId);
  await finishIfDone(ports, analysisId).catch((error: unknown) =>
    failAnalysis(pool, analysisId, `the comparison could not be made: ${messageOf(error)}`),
  );
}

async function claim(pool: Pool, { analysisId, runId, trainingStep }: ShardAddress): Promise<ClaimedShard | undefined> {
  const { rows } = await pool.query(
    `update analysis_shard shard set state = 'running', tries = tries + 1, started_at = now()
     from analysis
     where shard.analysis_id = $1 and shard.run_id = $2 and shard.training_step = $3 and shard.state in ('queued', 'running')
       and analysis.id = shard.analysis_id
     returning shard.inputs as plan, analysis.estimators`,
    [analysisId, runId, trainingStep],
  );
  return rows[0];
}

async function computeAndStore(
  ports: ShardPorts,
  address: ShardAddress,
  { plan, estimators }: ClaimedShard,
): Promise<void> {
  const { pool } = ports;
  const known = await knownResults(pool, plan.results);
  const { runId, trainingStep } = address;
  const { asOf, from, segments, sampleRate, leavesTokens } = plan;
  const { results, summary, device } = await ports.compute({
    runId,
    trainingStep,
    asOf,
    from,
    segments,
    sampleRate,
    leavesTokens,
    annotations:
      plan.lastAnnotation === null
        ? []
        : await annotationsOf(pool, runId, { first: trainingStep, last: trainingStep }, asOf),
    tags: await tagsOf(pool, runId, { trainingStep, from, asOf }),
    estimators: estimators.map((estimator, i) => {
      const key = plan.results[i];
      return { ...estimator, key, known: known.get(key) ?? null };
    }),
  });
  const isErased = await inTransaction(pool, async (client) => {
    await lockResults(client, runId, 'shared');
    const erased = await client.query('select from run_erasure where run_id = $1', [runId]);
    if (erased.rows.length > 0) return true;
    for (const result of results) {
      await storeResult(client, address, estimators[plan.results.indexOf(result.key)], result);
    }
    await complete(client, address, plan, summary, results, device);
    return false;
  });
  if (isErased) {
    await ports.discard?.(results.map(({ key }) => creditFileKey(key)));
    throw new RecreditError('run.erased', `run ${runId} was erased`, { run: runId });
  }
  await notifyProgress(pool, address.analysisId);
}

/** What failed is not known: it is tried again. */
async function knownResults(pool: Pool, keys: readonly string[]): Promise<ReadonlyMap<string, 'credit' | 'missing'>> {
  const { rows } = await pool.query(
    `select key, outcome from credit_result where key = any ($1) and outcome <> 'failed'`,
    [keys],
  );
  return new Map(rows.map(({ key, outcome }) => [key, outcome]));
}

async function storeResult(
  client: PoolClient,
  { runId, trainingStep }: ShardAddress,
  { id, version, hash }: ChosenEstimator,
  result: ShardResult,
): Promise<void> {
  const credit = result.kind === 'credit' ? result : null;
  await client.query(
    `insert into credit_result
       (key, run_id, training_step, estimator, version, outcome, missing, warnings, file_sha256, bytes, device, seconds,
        estimator_hash, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, decode($9, 'hex'), $10, $11, $12, $13, $14)
     on conflict (key) do update set outcome = excluded.outcome, missing = excluded.missing, warnings = excluded.warnings,
       file_sha256 = excluded.file_sha256, bytes = excluded.bytes, device = excluded.device, seconds = excluded.seconds,
       reason = excluded.reason
     -- a file that was lost and is there again has other bytes where another device computed it
     where credit_result.outcome = 'failed' or credit_result.device <> excluded.device`,
    [
      result.key,
      runId,
      trainingStep,
      id,
      version,
      result.kind,
      result.kind === 'missing' ? JSON.stringify(result.missing) : null,
      JSON.stringify(credit?.warnings ?? []),
      credit?.sha256 ?? null,
      credit?.bytes ?? 0,
      result.device,
      result.seconds,
      hash ?? null,
      result.kind === 'failed' ? result.reason : null,
    ],
  );
}

async function complete(
  client: PoolClient,
  { analysisId, runId, trainingStep }: ShardAddress,
  plan: ShardPlan,
  summary: Uint8Array,
  results: readonly ShardResult[],
  device: string,
): Promise<void> {
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const bytes = results.reduce((sum, result) => sum + (result.kind === 'credit' ? result.bytes : 0), 0);
  await client.query(
    // equal inputs give equal bytes, except that an estimator which failed before may have something to say now
    `insert into shard_summary (key, run_id, payload) values ($1, $2, $3)
     on conflict (key) do update set payload = excluded.payload where shard_summary.payload <> excluded.payload`,
    [plan.summary, runId, summary],
  );
  await client.query(
    `update analysis_shard set state = 'done', cached = $4, reason = null, device = $5, seconds = $6, bytes = $7, finished_at = now()
     where analysis_id = $1 and run_id = $2 and training_step = $3 and state = 'running'`,
    [analysisId, runId, trainingStep, results.length === 0, device, seconds, bytes],
  );
}

async function release(pool: Pool, { analysisId, runId, trainingStep }: ShardAddress, reason: string): Promise<void> {
  await pool.query(
    `update analysis_shard set state = 'queued', reason = $4
     where analysis_id = $1 and run_id = $2 and training_step = $3 and state = 'running'`,
    [analysisId, runId, trainingStep, reason],
  );
}
