import type { Queryable } from '#lib/storage';
import type { RunProgressRow } from './run-progress.projection.js';

/** A trainer's way back: to which training step, since which position of the log. */
export interface Rewind {
  readonly position: number;
  readonly toTrainingStep: number;
  readonly at: Date;
}

const OF_A_STEP = ['trajectory', 'trajectory_group', 'training_step', 'metric_point', 'checkpoint_sketch'] as const;

/**
 * Marks what the trainer's way back superseded. Nothing is deleted: what comes now makes rows of its own beside the
 * marked ones, under the same names if it likes. Rows of these steps that are in memory must be loaded anew.
 */
export async function rewindRun(db: Queryable, runId: string, run: RunProgressRow, rewind: Rewind): Promise<void> {
  const { position, toTrainingStep, at } = rewind;
  await db.query(`insert into rewind (run_id, position, to_training_step, recorded_at) values ($1, $2, $3, $4)`, [
    runId,
    position,
    toTrainingStep,
    at,
  ]);
  for (const table of OF_A_STEP) {
    const { rowCount } = await db.query(
      `update ${table} set superseded_at = $2 where run_id = $1 and training_step > $3 and superseded_at is null`,
      [runId, position, toTrainingStep],
    );
    if (table === 'trajectory') run.supersededCount += rowCount ?? 0;
  }
  await db.query(
    `update annotation set superseded_at = $2 from trajectory
     where trajectory.run_id = $1 and trajectory.superseded_at = $2
       and annotation.run_id = $1 and annotation.trajectory_id = trajectory.id and annotation.superseded_at is null`,
    [runId, position],
  );
  if (run.trainingStepMax !== null) run.trainingStepMax = Math.min(run.trainingStepMax, toTrainingStep);
}
