import type { Queryable } from '#lib/storage';
import { FINISHED_COLUMNS, type FinishedTrajectory } from './segment-records.js';

/** What is finished and in no segment yet, in the order that it has inside one. All that ended before the last cut is in one. */
export async function waitingTrajectories(db: Queryable, runId: string): Promise<FinishedTrajectory[]> {
  const { rows } = await db.query(
    `select ${FINISHED_COLUMNS} from trajectory
     where run_id = $1 and superseded_at is null and end_position >=
       coalesce((select end_position from segment where run_id = $1 order by ordinal desc limit 1), 0)
     order by training_step, end_position`,
    [runId],
  );
  return rows;
}
