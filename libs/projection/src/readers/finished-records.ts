import type { TrajectoryRecord } from '#lib/protocol';
import type { Queryable } from '#lib/storage';
import { FINISHED_COLUMNS, recordsOf, type FinishedTrajectory } from '../segment-records.js';
import type { StepRange } from './segment-slices.js';

/** About, in memory. A trajectory that alone is larger comes alone. */
const PAGE_BYTES = 16 * 1024 * 1024;
const PAGE_ROWS = 1_000;
const LAST_POSITION = Number.MAX_SAFE_INTEGER;

/**
 * The finished trajectories of some training steps, whole, by (trainingStep, end position), a page at a time.
 *
 * @param asOf those that had ended before it and that no rewind before it superseded; the current ones if not said
 */
export async function* finishedRecords(
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  { pageBytes = PAGE_BYTES, asOf = null }: { readonly pageBytes?: number; readonly asOf?: number | null } = {},
): AsyncGenerator<TrajectoryRecord[]> {
  for (let after = [first, -1]; ;) {
    const page = await finishedAfter(db, runId, after, last, { pageBytes, asOf });
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
  { pageBytes, asOf }: { readonly pageBytes: number; readonly asOf: number | null },
): Promise<FinishedTrajectory[]> {
  const { rows } = await db.query(
    `select ${FINISHED_COLUMNS} from (
       select *, sum(bytes) over (order by training_step, end_position) - bytes as bytes_before from (
         select * from trajectory
         where run_id = $1 and training_step between $2 and $4 and (training_step, end_position) > ($2, $3)
           and end_position < coalesce($7::bigint, ${LAST_POSITION}) and coalesce(superseded_at >= $7, superseded_at is null)
         order by training_step, end_position limit $5
       ) as next
     ) as page
     where bytes_before < $6 order by training_step, end_position`,
    [runId, trainingStep, endPosition, last, PAGE_ROWS, pageBytes, asOf],
  );
  return rows;
}
