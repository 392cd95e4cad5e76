import type { Queryable } from '#lib/storage';
import type { FinishedTrajectory } from './segment-records.js';

/** A segment whose files are stored. */
export interface StoredSegment {
  readonly ordinal: number;
  /** exclusive: of the cut */
  readonly endPosition: number;
  readonly numericKey: string;
  readonly numericSha256: Buffer;
  readonly textKey: string;
  readonly textSha256: Buffer;
  /** of both files */
  readonly bytes: number;
}

/**
 * Registers a segment and which trajectory lies in which of its rows.
 *
 * @param rows by (trainingStep, endPosition)
 */
export async function storeSegment(
  db: Queryable,
  runId: string,
  segment: StoredSegment,
  rows: readonly FinishedTrajectory[],
): Promise<void> {
  const { ordinal, endPosition, numericKey, numericSha256, textKey, textSha256, bytes } = segment;
  const turnCount = rows.reduce((sum, row) => sum + row.turnCount, 0);
  const [first, last] = [rows[0].trainingStep, rows[rows.length - 1].trainingStep];
  await db.query(
    `insert into segment (run_id, ordinal, first_step, last_step, end_position, trajectory_count, turn_count,
       numeric_key, numeric_sha256, text_key, text_sha256, bytes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[runId, ordinal, first, last, endPosition, rows.length, turnCount],
      ...[numericKey, numericSha256, textKey, textSha256, bytes],
    ],
  );
  await db.query(
    `with located as (
       update trajectory set segment_ordinal = $2, segment_row = row - 1
       from unnest($3::bigint[]) with ordinality as member (first_position, row)
       where trajectory.run_id = $1 and trajectory.first_position = member.first_position
       returning training_step, end_position, turn_count, segment_row
     )
     insert into segment_step (run_id, training_step, ordinal, first_row, row_count, end_positions, turn_counts)
     select $1, training_step, $2, min(segment_row), count(*),
       array_agg(end_position order by segment_row), array_agg(turn_count order by segment_row)
     from located group by training_step`,
    [runId, ordinal, rows.map((row) => row.firstPosition)],
  );
}
