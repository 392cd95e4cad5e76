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
 * Registers a segment and which of its rows belong to which training step.
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
      runId,
      ordinal,
      first,
      last,
      endPosition,
      rows.length,
      turnCount,
      numericKey,
      numericSha256,
      textKey,
      textSha256,
      bytes,
    ],
  );
  await db.query(
    `insert into segment_step (run_id, training_step, ordinal, first_row, row_count, end_positions, turn_counts)
     select $1, training_step, $2, min(nth) - 1, count(*), array_agg(ended order by nth), array_agg(turns order by nth)
     from unnest($3::integer[], $4::bigint[], $5::integer[]) with ordinality as member (training_step, ended, turns, nth)
     group by training_step`,
    [
      runId,
      ordinal,
      rows.map((row) => row.trainingStep),
      rows.map((row) => row.endPosition),
      rows.map((row) => row.turnCount),
    ],
  );
}
