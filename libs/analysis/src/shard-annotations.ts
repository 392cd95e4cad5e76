import type { Queryable } from '#lib/storage';
import type { ShardAnnotation } from './shard-task.js';

/** The annotations of a training step's trajectories before a position, in order. Failed judgements say nothing. */
export async function shardAnnotations(
  db: Queryable,
  runId: string,
  trainingStep: number,
  asOf: number,
): Promise<ShardAnnotation[]> {
  const { rows } = await db.query(
    `select annotation.position::float8 as position, annotation.trajectory_id as trajectory, annotation.turn,
       annotation.annotator, annotation.attempt, annotation.signals
     from annotation
     where annotation.run_id = $1 and annotation.position < $3 and annotation.status = 'ok'
       and annotation.trajectory_id in
         (select id from trajectory where trajectory.run_id = $1 and trajectory.training_step = $2)
     order by annotation.position, annotation.item`,
    [runId, trainingStep, asOf],
  );
  return rows;
}
