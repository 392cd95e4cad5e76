import type { Confined } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { Key, Order } from '../graphql/cursor.js';
import { meanOf } from '../graphql/mean-of.js';
import type { Run, RunProgress, SignalSummary } from './run.object.js';
import { RunState } from './run.object.js';

const COLUMNS = 'run.id, run.name, run.config, run.created_at as "createdAt", project.name as project';

export const NEWEST_RUN: Order<Run> = {
  parts: ['instant', 'text'],
  keyOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};

/** Of each project, newest first. */
export function runsOfProjects(db: Confined, projectIds: readonly string[], limit: number, after: Key | null) {
  return db.query<Run & { of: string }>(
    `select found.*, wanted.id as "of" from unnest($1::text[]) as wanted(id)
     cross join lateral (
       select ${COLUMNS} from run join project on project.id = run.project_id
       where run.project_id = wanted.id and ($3::timestamptz is null or (run.created_at, run.id) < ($3, $4))
       order by run.created_at desc, run.id desc limit $2
     ) as found`,
    [projectIds, limit, ...(after ?? [null, null])],
  );
}

export async function countRunsOfProjects(db: Confined, projectIds: readonly string[]): Promise<number[]> {
  const rows = await db.query<{ id: string; count: number }>(
    'select project_id as id, count(*)::integer as count from run where project_id = any ($1) group by project_id',
    [projectIds],
  );
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return projectIds.map((id) => counts.get(id) ?? 0);
}

/**
 * By id, or by name among the runs the caller sees.
 *
 * @throws RecreditError `run.unknown` where several projects use the name
 */
export async function runByIdOrName(db: Confined, idOrName: string): Promise<Run | null> {
  const found = await db.query<Run>(
    `select ${COLUMNS} from run join project on project.id = run.project_id
     where run.id = $1 or run.name = $1 order by run.id = $1 desc, project.name limit 10`,
    [idOrName],
  );
  const [run = null, another] = found;
  if (!another || run?.id === idOrName) return run;
  const projects = found.map(({ project }) => project);
  const message = `several projects have a run ${idOrName} (${projects.join(', ')}): use its id`;
  throw new RecreditError('run.unknown', message, { run: idOrName, projects });
}

const UNSEEN: RunProgress = {
  state: RunState.RUNNING,
  position: 0,
  lastTrainingStep: null,
  trajectoryCount: 0,
  finishedCount: 0,
  incompleteCount: 0,
  turnCount: 0,
  groupCount: 0,
  successRate: null,
  meanOutcomeReward: null,
  lastEventAt: null,
};

/** In the order of the ids; a run that the projector has not come to yet has nothing to show. */
export async function progressOfRuns(db: Confined, runIds: readonly string[]): Promise<RunProgress[]> {
  const rows = await db.query<RunProgress & { runId: string; outcomeSum: number; outcomeCount: number }>(
    `select run_id as "runId", state, position::float8 as position, training_step_max as "lastTrainingStep",
       trajectory_count as "trajectoryCount", finished_count as "finishedCount", incomplete_count as "incompleteCount",
       turn_count::float8 as "turnCount", group_count as "groupCount", last_event_at as "lastEventAt",
       success_count::float8 / nullif(judged_count, 0) as "successRate",
       outcome_sum as "outcomeSum", outcome_count as "outcomeCount"
     from run_progress where run_id = any ($1)`,
    [runIds],
  );
  const byRun = new Map(
    rows.map((row) => [row.runId, { ...row, meanOutcomeReward: meanOf(row.outcomeSum, row.outcomeCount) }]),
  );
  return runIds.map((id) => byRun.get(id) ?? UNSEEN);
}

/** Which signals each run carries. */
export async function signalsOfRuns(db: Confined, runIds: readonly string[]): Promise<SignalSummary[][]> {
  const rows = await db.query<SignalSummary & { runId: string; sum: number; numbers: number }>(
    `select run_id as "runId", level, name, source, rows::float8 as rows, minimum, maximum, sum,
       numbers::float8 as numbers
     from signal_summary where run_id = any ($1)
     order by array_position(array['trajectory', 'turn', 'token'], level), name, source`,
    [runIds],
  );
  const shown = rows.map((row) => ({ ...row, mean: meanOf(row.sum, row.numbers) }));
  const byRun = Map.groupBy(shown, ({ runId }) => runId);
  return runIds.map((id) => byRun.get(id) ?? []);
}
