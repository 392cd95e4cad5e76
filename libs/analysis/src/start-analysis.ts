import { APPEND_CHANNEL, appendOwn, assertNotErased, headOf } from '#lib/event-log';
import { AS_RECORDED, type AnyEstimator } from '#lib/credit';
import { messageOf, newId, RecreditError } from '#lib/kernel';
import { inTransaction, type Pool, type Queryable } from '#lib/storage';
import { failAnalysis } from './finish-analysis.js';
import { chooseEstimators, type AnalysisRequest } from './request.js';

export interface StartPorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** the catalogue; ours if not said */
  readonly estimators?: readonly AnyEstimator[];
  /** queues the plan of an analysis, as part of the transaction that stores its request */
  plan(analysisId: string, transaction: Queryable): Promise<void>;
}

/**
 * Starts an analysis over runs of one project that the caller may see. The request becomes an event of each run; its
 * position is what the analysis is as of, unless an earlier one is asked for.
 *
 * @returns the id of the analysis
 * @throws RecreditError `run.erased`: there is nothing left to compute from
 */
export async function startAnalysis(ports: StartPorts, projectId: string, request: AnalysisRequest): Promise<string> {
  const estimators = chooseEstimators(request.estimators, ports.estimators, request.stateIdentity);
  const { from = null, to = null } = request.steps ?? {};
  if (request.runs.length === 0) throw new RecreditError('request.invalid', 'an analysis needs at least one run');
  if (from !== null && to !== null && from > to) {
    throw new RecreditError('request.invalid', `training steps run from low to high, got ${from} to ${to}`);
  }
  await assertNotErased(
    ports.pool,
    request.runs.map(({ id }) => id),
  );
  for (const { id, asOf } of request.runs) if (asOf !== undefined) await assertReached(ports.pool, id, asOf);

  const analysisId = newId();
  await inTransaction(ports.pool, async (client) => {
    await client.query(
      `insert into analysis (id, project_id, state, estimators, first_step, last_step, state_identity)
       values ($1, $2, 'planning', $3, $4, $5, $6)`,
      [analysisId, projectId, JSON.stringify(estimators), from, to, request.stateIdentity ?? null],
    );
    await client.query(
      `insert into analysis_run (analysis_id, run_id, as_of) select $1, * from unnest($2::text[], $3::bigint[])`,
      [analysisId, request.runs.map(({ id }) => id), request.runs.map(({ asOf }) => asOf ?? null)],
    );
    await ports.plan(analysisId, client);
  });
  await announce(ports.pool, analysisId).catch(async (error: unknown) => {
    if (error instanceof RecreditError && error.code === 'run.erased') {
      await failAnalysis(ports.pool, analysisId, messageOf(error));
    }
    throw error;
  });
  return analysisId;
}

async function assertReached(pool: Pool, runId: string, asOf: number): Promise<void> {
  const head = await headOf(pool, runId);
  if (Number.isInteger(asOf) && asOf >= 0 && asOf <= head) return;
  throw new RecreditError('request.invalid', `asOf: a position from 0 to ${head} was wanted, found ${asOf}`, { head });
}

/** Writes the request into each run that does not have it yet. Run again after a crash it writes what is left. */
export async function announce(pool: Pool, analysisId: string): Promise<void> {
  const { rows } = await pool.query(
    `select run_id as run from analysis_run where analysis_id = $1 and requested_at_position is null order by run_id`,
    [analysisId],
  );
  for (const { run } of rows) {
    await announceIn(pool, analysisId, run);
    await pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, run]);
  }
}

function announceIn(pool: Pool, analysisId: string, runId: string): Promise<void> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query(
      `select analysis.estimators, analysis.first_step as "from", analysis.last_step as "to",
         coalesce(analysis.state_identity, $3) as "stateIdentity", analysis_run.as_of::float8 as "asOf", analysis_run.requested_at_position is not null as announced
       from analysis_run join analysis on analysis.id = analysis_id
       where analysis_id = $1 and run_id = $2 for update of analysis_run`,
      [analysisId, runId, AS_RECORDED],
    );
    const [{ announced, estimators, stateIdentity, from, to, asOf }] = rows;
    if (announced) return;
    const at = new Date().toISOString();
    const request = { estimators, stateIdentity, from, to, asOf };
    const [position] = await appendOwn(client, runId, [
      { type: 'analysis.requested', at, analysis: analysisId, request },
    ]);
    await client.query(
      `update analysis_run set requested_at_position = $3, as_of = coalesce(as_of, $3) where analysis_id = $1 and run_id = $2`,
      [analysisId, runId, position],
    );
  });
}
