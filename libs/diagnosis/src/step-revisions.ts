import type { AnyDiagnostic } from '#lib/diagnostics';
import { rowsSeen } from '#lib/projection';
import type { Queryable } from '#lib/storage';

/** What a training step of a run was, as of a position: which events it is made of. */
export interface StepRevision {
  readonly trainingStep: number;
  /** position of the last event that figures of its trajectories and metrics depend on; null: it has none */
  readonly revision: number | null;
  /** the same of figures that read its checkpoint, and so those before it; null: it has no checkpoint */
  readonly checkpointRevision: number | null;
  readonly trajectoryCount: number;
  /** the trainer recorded its metrics, or went on to a later step: no more of it is expected */
  readonly isComplete: boolean;
}

/**
 * The training steps of a run as of a position, ascending: finished trajectories, metrics, annotations and checkpoints
 * that no rewind superseded. One statement over indexes; the run must be projected that far.
 *
 * @param asOf events before this position are seen
 */
export async function stepRevisions(db: Queryable, runId: string, asOf: number): Promise<StepRevision[]> {
  const { rows } = await db.query(
    // all that ended before the last cut is in segments, whose index is a row for many trajectories
    `with ended as (
       select step, max(last) as last, sum(trajectories) as trajectories from (
         select step.training_step as step, end_positions[seen] as last, seen - skipped as trajectories
         from ${rowsSeen('$2')}
         union all
         select training_step, end_position, 1 from trajectory
         where run_id = $1 and end_position < $2 and coalesce(superseded_at, $2) >= $2 and end_position >=
           coalesce((select end_position from segment where run_id = $1 order by ordinal desc limit 1), 0)
       ) as seen group by step
     ), measured as (
       select training_step as step, max(position) as last from metric_point
       where run_id = $1 and position < $2 and coalesce(superseded_at, $2) >= $2 group by training_step
     ), judged as (
       select training_step as step, max(annotation.position) as last
       from annotation join trajectory on trajectory.run_id = $1 and trajectory.id = annotation.trajectory_id
       where annotation.run_id = $1 and annotation.status = 'ok' and annotation.position < $2
         and coalesce(annotation.superseded_at, $2) >= $2
         and first_position < $2 and coalesce(trajectory.superseded_at, $2) >= $2
       group by training_step
     ), sketched as (
       select training_step as step, max(max(position)) over (order by training_step) as last from checkpoint_sketch
       where run_id = $1 and position < $2 and coalesce(superseded_at, $2) >= $2 group by training_step
     )
     select step as "trainingStep", greatest(ended.last, measured.last, judged.last)::float8 as revision,
       (case when sketched.last is not null then greatest(ended.last, measured.last, judged.last, sketched.last) end)::float8
         as "checkpointRevision",
       coalesce(trajectories, 0)::int as "trajectoryCount",
       measured.last is not null or step < max(step) over () as "isComplete"
     from ended full join measured using (step) full join judged using (step) full join sketched using (step)
     order by step`,
    [runId, asOf],
  );
  return rows;
}

/** Metrics of some training steps of a run as of a position: the last word on each. A value that is none is left out. */
export async function metricsOf(
  db: Queryable,
  runId: string,
  asOf: number,
  trainingSteps: readonly number[],
): Promise<ReadonlyMap<number, Record<string, number>>> {
  const { rows } = await db.query(
    `select training_step as step, json_object_agg(name, value) as metrics from (
       select distinct on (training_step, name) training_step, name, value from metric_point
       where run_id = $1 and position < $2 and coalesce(superseded_at, $2) >= $2 and training_step = any ($3)
       order by training_step, name, position desc
     ) as last_word where value is not null group by training_step`,
    [runId, asOf, trainingSteps],
  );
  return new Map(rows.map(({ step, metrics }: { step: number; metrics: Record<string, number> }) => [step, metrics]));
}

/** The revision of a step that a diagnostic speaks of; null: there is nothing for it to measure. */
export function revisionFor({ readsCheckpoints }: AnyDiagnostic, step: StepRevision): number | null {
  return readsCheckpoints ? step.checkpointRevision : step.revision;
}
