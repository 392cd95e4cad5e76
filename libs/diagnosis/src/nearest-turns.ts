import type { SoughtState } from '#lib/credit-learned';
import { messageOf, newId, RecreditError } from '#lib/kernel';
import type { Pool } from '#lib/storage';
import { positionToLookAt, sourcesOf, stepSource, stretchesOf } from './load-step.js';
import type { JudgedTurn, NearestInStep, NearestTask, SeekTask } from './nearest-task.js';
import { stepRevisions } from './step-revisions.js';

/** Where turns like a turn are sought: in its whole run, in groups of its group's name (its task), in its group alone. */
export const NEAREST_WITHIN = ['run', 'task', 'group'] as const;
export type NearestWithin = (typeof NEAREST_WITHIN)[number];

/** A turn whose like is sought. */
export interface NearestRequest {
  readonly trajectory: string;
  /** its index */
  readonly turn: number;
  /** how many failures and how many successes, at most; 5 if not said */
  readonly k?: number;
  /** the run, if not said */
  readonly within?: NearestWithin;
  /** events before this position are looked at; all that are projected if not said */
  readonly asOf?: number;
}

/** What was found, as it is kept. */
export interface NearestResult {
  /** what states were compared by: the signal `embedding`, or their texts */
  readonly by: SoughtState['by'];
  /** most similar first */
  readonly failures: readonly JudgedTurn[];
  readonly successes: readonly JudgedTurn[];
  /** trajectories that were compared, and such that were not: nobody said how they ended, or they have nothing to compare */
  readonly compared: NearestInStep['compared'];
  readonly leftOut: NearestInStep['leftOut'];
  readonly trainingSteps: number;
  /** what computed it */
  readonly devices: readonly string[];
  readonly warnings: readonly string[];
}

export interface StartNearestPorts {
  readonly pool: Pool;
  /** queues the search */
  queue(nearestId: string): Promise<void>;
}

export interface NearestPorts {
  readonly pool: Pool;
  /** reads the state of the turn in a thread of its own */
  seek(task: SeekTask): Promise<SoughtState | null>;
  /** searches training steps in a thread of its own; what it finds is in the order of the task's sources */
  nearest(task: NearestTask): Promise<readonly NearestInStep[]>;
  readonly signal?: AbortSignal | undefined;
  /** stretches of training steps searched at once */
  readonly concurrency?: number;
}

const DEFAULT_K = 5;
/** Of failures, and of successes. */
const MOST = 50;

/**
 * Starts the search for turns that began in a state like a turn's, in a run that the caller may see: in trajectories that
 * failed, and in such that succeeded.
 *
 * @returns its id
 * @throws RecreditError `trajectory.unknown`, `request.invalid`, `run.erased`
 */
export async function startNearest(ports: StartNearestPorts, runId: string, request: NearestRequest): Promise<string> {
  const { pool } = ports;
  const { trajectory, turn, k = DEFAULT_K, within = 'run' } = request;
  assertWhole('k', k, 1, MOST);
  const asOf = await positionToLookAt(pool, runId, request.asOf);
  const found = await findTrajectory(pool, runId, trajectory, asOf);
  if (!found) {
    const why = `no trajectory ${trajectory} in the run as of position ${asOf}`;
    throw new RecreditError('trajectory.unknown', why, { trajectory });
  }
  if (!found.isFinished) {
    const why = `trajectory ${trajectory} is not finished: turns are compared once theirs is whole and has ended`;
    throw new RecreditError('request.invalid', why, { trajectory });
  }
  if (found.turnCount === 0) throw new RecreditError('request.invalid', `trajectory ${trajectory} has no turn`);
  assertWhole('turn', turn, 0, found.turnCount - 1);
  const id = newId();
  await pool.query(
    `insert into nearest_turns (id, run_id, trajectory_id, turn, training_step, group_name, k, within, as_of, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running')`,
    [id, runId, trajectory, turn, found.trainingStep, found.group, k, within, asOf],
  );
  await ports.queue(id);
  return id;
}

function assertWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RecreditError(
    'request.invalid',
    `${name}: a whole number from ${least} to ${most} was wanted, found ${value}`,
  );
}

interface FoundTrajectory {
  readonly trainingStep: number;
  readonly group: string;
  readonly turnCount: number;
  readonly isFinished: boolean;
}

async function findTrajectory(
  pool: Pool,
  runId: string,
  id: string,
  asOf: number,
): Promise<FoundTrajectory | undefined> {
  const { rows } = await pool.query(
    `select training_step as "trainingStep", group_name as "group", turn_count as "turnCount",
       coalesce(end_position < $3, false) as "isFinished"
     from trajectory
     where run_id = $1 and id = $2 and first_position < $3 and coalesce(superseded_at, $3) >= $3
     order by first_position desc limit 1`,
    [runId, id, asOf],
  );
  return rows[0];
}

/** Searches the run, training step by training step, and keeps what was found. Run again it finds the same. */
export async function findNearest(ports: NearestPorts, nearestId: string): Promise<void> {
  const { pool } = ports;
  const { rows } = await pool.query(
    `select run_id as "runId", trajectory_id as trajectory, turn, training_step as "trainingStep", group_name as "group",
       k, within, as_of::float8 as "asOf" from nearest_turns where id = $1 and state = 'running'`,
    [nearestId],
  );
  if (rows.length === 0) return;
  const result = await searched(ports, rows[0]);
  if (typeof result === 'string') return failNearest(pool, nearestId, result);
  await pool.query(
    `update nearest_turns set state = 'completed', result = $2, finished_at = now() where id = $1 and state = 'running'`,
    [nearestId, JSON.stringify(result)],
  );
}

interface Search {
  readonly runId: string;
  readonly trajectory: string;
  readonly turn: number;
  readonly trainingStep: number;
  readonly group: string;
  readonly k: number;
  readonly within: NearestWithin;
  readonly asOf: number;
}

/** @returns what was found, or why nothing can be sought */
async function searched(ports: NearestPorts, search: Search): Promise<NearestResult | string> {
  const { pool, signal, concurrency = 2 } = ports;
  const { runId, trajectory, turn, trainingStep, group, k, within, asOf } = search;
  const all = (await stepRevisions(pool, runId, asOf)).filter(({ trajectoryCount }) => trajectoryCount > 0);
  const own = all.find((step) => step.trainingStep === trainingStep)!;
  const sought = await ports.seek({ source: await stepSource(pool, runId, own, asOf), trajectory, turn });
  if (!sought) {
    return `turn ${turn} of ${trajectory} has nothing to compare: an embedding or a state with a word was wanted, found neither`;
  }
  const steps = within === 'group' ? [own] : all;
  const found: (NearestInStep & { readonly trainingStep: number })[] = [];
  const next = (await stretchesOf(pool, runId, asOf, steps, concurrency)).values();
  const asked = { sought, own: trajectory, group: within === 'run' ? null : group, k };
  const searchInTurn = async () => {
    for (const stretch of next) {
      signal?.throwIfAborted();
      const inSteps = await ports.nearest({ sources: await sourcesOf(pool, runId, asOf, stretch), ...asked });
      found.push(...stretch.steps.map(({ trainingStep }, i) => ({ trainingStep, ...inSteps[i] })));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, searchInTurn));
  found.sort((a, b) => a.trainingStep - b.trainingStep);
  return { by: sought.by, ...merged(found, k) };
}

function merged(found: readonly NearestInStep[], k: number): Omit<NearestResult, 'by'> {
  // sorting is stable: of equally near turns those of the earlier training step come first
  const best = (of: 'failures' | 'successes') =>
    found
      .flatMap((step) => step[of])
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, k);
  const sum = (of: (step: NearestInStep) => number) => found.reduce((total, step) => total + of(step), 0);
  return {
    failures: best('failures'),
    successes: best('successes'),
    compared: { failures: sum((step) => step.compared.failures), successes: sum((step) => step.compared.successes) },
    leftOut: { unjudged: sum((step) => step.leftOut.unjudged), incomparable: sum((step) => step.leftOut.incomparable) },
    trainingSteps: found.length,
    devices: [...new Set(found.map(({ device }) => device))].toSorted(),
    warnings: [...new Set(found.flatMap(({ warnings }) => warnings))],
  };
}

/** Nothing can be sought, or no try is left: the search fails with its reason. */
export async function failNearest(pool: Pool, nearestId: string, reason: unknown): Promise<void> {
  await pool.query(
    `update nearest_turns set state = 'failed', failure = $2, finished_at = now() where id = $1 and state = 'running'`,
    [nearestId, messageOf(reason)],
  );
}
