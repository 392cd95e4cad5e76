import type { TrajectoryRecord } from '#lib/protocol';
import type { Queryable } from '#lib/storage';
import { FINISHED_COLUMNS, recordsOf, type FinishedTrajectory } from '../segment-records.js';
import type { StepRange } from './segments-of.js';

/** About, in memory. A trajectory that alone is larger comes alone. */
const PAGE_BYTES = 16 * 1024 * 1024;
const PAGE_ROWS = 1_000;

/** The finished trajectories of some training steps, whole, by (trainingStep, end position), a page at a time. */
export async function* finishedRecords(
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  { pageBytes = PAGE_BYTES }: { readonly pageBytes?: number } = {},
): AsyncGenerator<TrajectoryRecord[]> {
  for (let after = [first, -1]; ;) {
    const page = await finishedAfter(db, runId, after, last, pageBytes);
    if (page.length === 0) return;
    yield await recordsOf(db, runId, page);
    const { trainingStep, endPosition } = page[page.length - 1];
    after = [trainingStep, endPosition];
  }
}

async function finishedAfter(
  db: Queryable,
  runId: string,
  [trainingStep, endPosition]: readonly number[],
  last: number,
  pageBytes: number,
): Promise<FinishedTrajectory[]> {
  const { rows } = await db.query(
    `select ${FINISHED_COLUMNS} from (
       select *, sum(bytes) over (order by training_step, end_position) - bytes as bytes_before from (
         select * from trajectory
         where run_id = $1 and training_step between $2 and $4 and (training_step, end_position) > ($2, $3)
           and end_position is not null and superseded_at is null
         order by training_step, end_position limit $5
       ) as next
     ) as page
     where bytes_before < $6 order by training_step, end_position`,
    [runId, trainingStep, endPosition, last, PAGE_ROWS, pageBytes],
  );
  return rows;
}
