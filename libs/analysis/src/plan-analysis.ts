import { setTimeout as sleep } from 'node:timers/promises';
import { sampleRateFor } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import { inTransaction, type Pool, type PoolClient } from '#lib/storage';
import { finishIfDone, type FinishPorts } from './finish-analysis.js';
import { leavesTokens } from './leaves-tokens.js';
import type { ChosenEstimator } from './request.js';
import { resultKey, summaryKey } from './result-key.js';
import { stepSources, type StepSource } from './shard-sources.js';
import type { ShardPlan } from './shard-task.js';
import { announce } from './start-analysis.js';

const PATIENCE_MS = 10 * 60_000;
const POLL_MS = 100;

export interface ShardAddress {
  readonly analysisId: string;
  readonly runId: string;
  readonly trainingStep: number;
}

export interface PlanPorts extends FinishPorts {
  /** queues shards to be computed; one that waits already is not queued again */
  compute(shards: readonly ShardAddress[]): Promise<void>;
  /** aborts the waiting when the process stops */
  readonly signal?: AbortSignal | undefined;
}

interface PlannedShard extends StepSource {
  readonly runId: string;
  readonly plan: ShardPlan;
  readonly cached: boolean;
}

/**
 * Plans the shards of an analysis: one per run and training step. What is known already is done at once; the others are
 * queued. Planning again changes nothing.
 */
export async function planAnalysis(ports: PlanPorts, analysisId: string): Promise<void> {
  const { pool } = ports;
  await announce(pool, analysisId);
  const analysis = await analysisToPlan(pool, analysisId);
  if (analysis?.state === 'planning') {
    await waitForProjection(ports, analysisId);
    const shards = await plannedShards(pool, analysis);
    await inTransaction(pool, (client) => storePlan(client, analysisId, shards));
  }
  await ports.compute(await queuedShards(pool, analysisId));
  await finishIfDone(ports, analysisId);
}

interface AnalysisToPlan {
  readonly id: string;
  readonly state: string;
  readonly estimators: readonly ChosenEstimator[];
  readonly from: number | null;
  readonly to: number | null;
  readonly runs: readonly { readonly id: string; readonly asOf: number }[];
}

async function analysisToPlan(pool: Pool, analysisId: string): Promise<AnalysisToPlan | undefined> {
  const { rows } = await pool.query(
    `select id, state, estimators, first_step as "from", last_step as "to",
       (select json_agg(json_build_object('id', run_id, 'asOf', as_of) order by run_id)
        from analysis_run where analysis_id = analysis.id) as runs
     from analysis where id = $1`,
    [analysisId],
  );
  return rows[0];
}

/** The segments are cut where the request stands, so the projector must have passed it. */
async function waitForProjection({ pool, signal }: PlanPorts, analysisId: string): Promise<void> {
  for (
    const until = performance.now() + PATIENCE_MS;
    performance.now() < until;
    await sleep(POLL_MS, undefined, { signal })
  ) {
    const { rows } = await pool.query(
      `select count(*)::int as behind from analysis_run left join projection_checkpoint using (run_id)
       where analysis_id = $1 and coalesce(position, 0) <= requested_at_position`,
      [analysisId],
    );
    if (rows[0].behind === 0) return;
  }
  throw new RecreditError('internal.error', `the projector did not reach analysis ${analysisId} within ten minutes`);
}

async function plannedShards(pool: Pool, { runs, estimators, from, to }: AnalysisToPlan): Promise<PlannedShard[]> {
  const sources = new Map<string, StepSource[]>();
  const leaves = new Map<string, (sampled: number) => boolean>();
  for (const { id, asOf } of runs) {
    sources.set(id, await stepSources(pool, id, asOf, { from: from ?? undefined, to: to ?? undefined }));
    leaves.set(id, await leavesTokens(pool, id));
  }
  const turns = sources
    .values()
    .flatMap((steps) => steps)
    .reduce((sum, { turnCount }) => sum + turnCount, 0);
  const sampleRate = sampleRateFor(turns);

  const shards = runs.flatMap(({ id, asOf }) =>
    sources.get(id)!.map((source) => {
      const results = estimators.map((estimator) => resultKey(id, source, estimator));
      const summary = summaryKey(
        id,
        estimators.map(({ label }, i) => [label, results[i]]),
        sampleRate,
      );
      const { segments, lastAnnotation, trajectoryCount } = source;
      return {
        ...source,
        runId: id,
        plan: {
          asOf,
          from: source.from,
          segments,
          lastAnnotation,
          results,
          summary,
          sampleRate,
          leavesTokens: leaves.get(id)!(sampleRate * trajectoryCount),
        },
      };
    }),
  );
  const known = await knownSummaries(pool, shards);
  return shards.map((shard) => ({ ...shard, cached: known.has(shard.plan.summary) }));
}

/**
 * A summary is stored with its results or after them, so where it is they are. One whose estimators failed is not whole:
 * they are tried again.
 */
async function knownSummaries(
  pool: Pool,
  shards: readonly { readonly plan: ShardPlan }[],
): Promise<ReadonlySet<string>> {
  const [summaries, failures] = await Promise.all([
    pool.query(`select key from shard_summary where key = any ($1)`, [shards.map(({ plan }) => plan.summary)]),
    pool.query(`select key from credit_result where key = any ($1) and outcome = 'failed'`, [
      shards.flatMap(({ plan }) => plan.results),
    ]),
  ]);
  const known = new Set(summaries.rows.map(({ key }: { key: string }) => key));
  const failed = new Set(failures.rows.map(({ key }: { key: string }) => key));
  for (const { plan } of shards) if (plan.results.some((key) => failed.has(key))) known.delete(plan.summary);
  return known;
}

async function storePlan(client: PoolClient, analysisId: string, shards: readonly PlannedShard[]): Promise<void> {
  const { rowCount } = await client.query(
    `update analysis set state = 'running', planned_at = now(), sample_rate = $2 where id = $1 and state = 'planning'`,
    [analysisId, shards[0]?.plan.sampleRate ?? 1],
  );
  if (rowCount === 0) return; // planned or cancelled meanwhile
  await client.query(
    `insert into analysis_shard
       (analysis_id, run_id, training_step, state, cached, inputs, trajectory_count, finished_at)
     select $1, run_id, step, case when cached then 'done' else 'queued' end, cached, inputs, trajectories,
       case when cached then now() end
     from unnest($2::text[], $3::int[], $4::bool[], $5::jsonb[], $6::int[]) as s(run_id, step, cached, inputs, trajectories)`,
    [
      analysisId,
      shards.map(({ runId }) => runId),
      shards.map(({ trainingStep }) => trainingStep),
      shards.map(({ cached }) => cached),
      shards.map(({ plan }) => JSON.stringify(plan)),
      shards.map(({ trajectoryCount }) => trajectoryCount),
    ],
  );
}

async function queuedShards(pool: Pool, analysisId: string): Promise<ShardAddress[]> {
  const { rows } = await pool.query(
    `select analysis_id as "analysisId", run_id as "runId", training_step as "trainingStep" from analysis_shard
     where analysis_id = $1 and state = 'queued' order by run_id, training_step`,
    [analysisId],
  );
  return rows;
}
