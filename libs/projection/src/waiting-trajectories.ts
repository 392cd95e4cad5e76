import type { Queryable } from '#lib/storage';
import { FINISHED_COLUMNS, type FinishedTrajectory } from './segment-records.js';

/** What is finished and in no segment yet, in the order that it has inside one. */
export async function waitingTrajectories(db: Queryable, runId: string): Promise<FinishedTrajectory[]> {
  const { rows } = await db.query(
    `select ${FINISHED_COLUMNS} from trajectory
     where run_id = $1 and end_position is not null and segment_ordinal is null and superseded_at is null
     order by training_step, end_position`,
    [runId],
  );
  return rows;
}
