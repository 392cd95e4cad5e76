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
  'checkpoint_sketch',
  'training_step',
  'run_progress',
  'projection_checkpoint',
] as const;

/** How many rows the read models of a run have. */
export async function countReadModelRows(db: Queryable, runId: string): Promise<number> {
  let sum = 0;
  for (const table of READ_MODEL_TABLES) {
    const { rows } = await db.query(`select count(*)::float8 as count from ${table} where run_id = $1`, [runId]);
    sum += rows[0].count;
  }
  return sum;
}

export async function dropReadModels(db: Queryable, runId: string): Promise<void> {
  for (const table of READ_MODEL_TABLES) await db.query(`delete from ${table} where run_id = $1`, [runId]);
}
