import type { Queryable } from '#lib/storage';

/** All that is made of a run's log in the database; what names another table's rows comes first. */
export const READ_MODEL_TABLES = [
  'segment_step',
  'segment',
  'rewind',
  'annotation',
  'trajectory',
  'trajectory_group',
  'signal_summary',
  'metric_point',
  'training_step',
  'run_progress',
  'projection_checkpoint',
] as const;

export async function dropReadModels(db: Queryable, runId: string): Promise<void> {
  for (const table of READ_MODEL_TABLES) await db.query(`delete from ${table} where run_id = $1`, [runId]);
}
