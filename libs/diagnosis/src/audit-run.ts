import { findEstimator, parseParams, type AnyEstimator } from '#lib/credit';
import { runAudit, type RunAudit } from '#lib/diagnostics';
import { messageOf, newId, RecreditError } from '#lib/kernel';
import type { Pool } from '#lib/storage';
import type { AuditedStep, AuditTask } from './audit-task.js';
import { positionToLookAt, sourcesOf, stretchesOf } from './load-step.js';
import { stepRevisions } from './step-revisions.js';

/** What a trainer says it did with the advantages it logged. */
export interface AuditRequest {
  readonly estimator: string;
  readonly params?: unknown;
  /** of the trainer's own advantages; `loggedAdvantage` if not said */
  readonly signal?: string;
  /** events before this position are looked at; all that are projected if not said */
  readonly asOf?: number;
}

/** What an audit found, as it is kept. */
export interface AuditResult extends RunAudit {
  /** training steps on which the claim could not be recomputed, and of the last of them, why */
  readonly notRecomputed: { readonly trainingSteps: number; readonly text: string } | null;
}

export interface StartAuditPorts {
  readonly pool: Pool;
  /** queues the audit */
  queue(auditId: string): Promise<void>;
  readonly estimators?: readonly AnyEstimator[] | undefined;
}

export interface AuditPorts {
  readonly pool: Pool;
  /** audits training steps in a thread of its own; what it says is in the order of the task's sources */
  audit(task: AuditTask): Promise<readonly AuditedStep[]>;
  readonly signal?: AbortSignal | undefined;
  /** stretches of training steps audited at once */
  readonly concurrency?: number;
}

export const LOGGED_ADVANTAGE = 'loggedAdvantage';

/**
 * Starts an audit of a run that the caller may see.
 *
 * @returns its id
 * @throws RecreditError `estimator.unknown`, `params.invalid`, `run.erased`, `request.invalid`
 */
export async function startAudit(ports: StartAuditPorts, runId: string, request: AuditRequest): Promise<string> {
  const { pool, estimators } = ports;
  const estimator = findEstimator(request.estimator, estimators);
  const params = parseParams(estimator, request.params ?? {});
  if (estimator.gives !== 'advantage' && estimator.gives !== 'return') {
    const why = `${estimator.id} gives a ${estimator.gives}, and an audit is of advantages`;
    throw new RecreditError('request.invalid', why, { estimator: estimator.id, gives: estimator.gives });
  }
  if (estimator.device) {
    const why = `${estimator.id} learns: a trainer cannot have given the same numbers`;
    throw new RecreditError('request.invalid', why, { estimator: estimator.id });
  }
  const asOf = await positionToLookAt(pool, runId, request.asOf);
  const id = newId();
  await pool.query(
    `insert into audit (id, run_id, as_of, estimator, version, params, signal, state)
     values ($1, $2, $3, $4, $5, $6, $7, 'running')`,
    [id, runId, asOf, estimator.id, estimator.version, JSON.stringify(params), request.signal ?? LOGGED_ADVANTAGE],
  );
  await ports.queue(id);
  return id;
}

/** Audits the run, training step by training step, each on its own, and keeps what was found. Run again it finds the same. */
export async function auditRun(ports: AuditPorts, auditId: string): Promise<void> {
  const { pool, signal, concurrency = 2 } = ports;
  const { rows } = await pool.query(
    `select run_id as "runId", as_of::float8 as "asOf", estimator as id, params, signal from audit
     where id = $1 and state = 'running'`,
    [auditId],
  );
  if (rows.length === 0) return;
  const [{ runId, asOf, id, params, signal: logged }] = rows;
  const steps = (await stepRevisions(pool, runId, asOf)).filter(({ trajectoryCount }) => trajectoryCount > 0);
  const audited: ({ trainingStep: number } & AuditedStep)[] = [];
  const next = (await stretchesOf(pool, runId, asOf, steps, concurrency)).values();
  const auditInTurn = async () => {
    for (const stretch of next) {
      signal?.throwIfAborted();
      const sources = await sourcesOf(pool, runId, asOf, stretch);
      const found = await ports.audit({ sources, claimed: { id, params }, signal: logged });
      audited.push(...stretch.steps.map(({ trainingStep }, i) => ({ trainingStep, ...found[i] })));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, auditInTurn));
  audited.sort((a, b) => a.trainingStep - b.trainingStep);
  await pool.query(
    `update audit set state = 'completed', result = $2, finished_at = now() where id = $1 and state = 'running'`,
    [auditId, JSON.stringify(resultOf(audited, id, logged))],
  );
}

function resultOf(
  steps: readonly ({ readonly trainingStep: number } & AuditedStep)[],
  claimed: string,
  signal: string,
): AuditResult {
  const lacking = steps.filter(({ missing }) => missing !== null);
  const last = lacking.at(-1)?.missing;
  const found = runAudit(steps, claimed);
  return {
    ...found,
    sentence: found.audited === 0 ? nothingAudited(steps.length, lacking.length, claimed, signal) : found.sentence,
    notRecomputed: last ? { trainingSteps: lacking.length, text: last } : null,
  };
}

function nothingAudited(steps: number, lacking: number, claimed: string, signal: string): string {
  if (steps === 0) return 'nothing to audit: no trajectory has ended yet';
  return lacking > 0
    ? `nothing to audit: ${claimed} could not be recomputed where ${signal} was logged`
    : `nothing to audit: no trajectory has ${signal}, which the trainer's own advantages were looked for in`;
}

/** No try is left: the audit fails with its reason. */
export async function failAudit(pool: Pool, auditId: string, reason: unknown): Promise<void> {
  await pool.query(
    `update audit set state = 'failed', failure = $2, finished_at = now() where id = $1 and state = 'running'`,
    [auditId, messageOf(reason)],
  );
}
