import type { Annotation } from '#lib/dataset';
import type { Queryable } from '#lib/storage';
import type { StepRange } from './segment-slices.js';

/**
 * Of the trajectories that are seen as of $4: events before it, and what no rewind before it superseded. What was said of
 * a trajectory before a rewind is not said of the one that has its id afterwards. Failed judgements say nothing.
 */
const SEEN = `
  annotation join trajectory on trajectory.run_id = annotation.run_id and trajectory.id = annotation.trajectory_id
  where annotation.run_id = $1 and trajectory.run_id = $1 and training_step between $2 and $3
    and annotation.status = 'ok' and annotation.position < $4 and coalesce(annotation.superseded_at, $4) >= $4
    and first_position < $4 and coalesce(trajectory.superseded_at, $4) >= $4`;

/** What was said of a trajectory, with the training step that it is of. */
export interface AnnotationOfStep extends Annotation {
  readonly trainingStep: number;
}

/** What annotators said of the trajectories of some training steps as of a position, in the order they said it. */
export async function annotationsOf(
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  asOf: number,
): Promise<AnnotationOfStep[]> {
  const { rows } = await db.query(
    `select training_step as "trainingStep", position::float8 as position, trajectory_id as trajectory, turn, annotator,
       attempt::float8 as attempt, annotation.signals
     from ${SEEN} order by position, item`,
    [runId, first, last, asOf],
  );
  return rows;
}

/** Per training step the position of its last annotation before `asOf`; a step without one is absent. */
export async function lastAnnotations(
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  asOf: number,
): Promise<Map<number, number>> {
  const { rows } = await db.query(
    `select training_step as step, max(position)::float8 as position from ${SEEN} group by training_step`,
    [runId, first, last, asOf],
  );
  return new Map(rows.map(({ step, position }) => [step, position]));
}
