import type { Queryable } from '#lib/storage';

/** Training steps, both ends included. */
export interface StepRange {
  readonly first: number;
  readonly last: number;
}

/** The rows of one segment that belong to one training step, as of some position. */
export interface SegmentSlice {
  readonly trainingStep: number;
  /** of the segment */
  readonly ordinal: number;
  readonly numericKey: string;
  /** in hex */
  readonly numericSha256: string;
  readonly textKey: string;
  readonly textSha256: string;
  readonly firstRow: number;
  readonly rowCount: number;
  /** of these rows */
  readonly turnCount: number;
  /** rows that ended before this position are superseded by a rewind and left out; 0: there is none */
  readonly from: number;
}

/**
 * What there is of some training steps as of a position, by training step and then by end position: one statement, and
 * no file is opened. Within a step and segment the rows lie by end position, so what is to be seen is one range of them.
 *
 * @param asOf events before this position are seen; the run must be projected that far
 */
export async function segmentSlices(
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  asOf: number,
): Promise<SegmentSlice[]> {
  const { rows } = await db.query(
    `select step.training_step as "trainingStep", ordinal,
       numeric_key as "numericKey", encode(numeric_sha256, 'hex') as "numericSha256",
       text_key as "textKey", encode(text_sha256, 'hex') as "textSha256",
       first_row + skipped as "firstRow", seen - skipped as "rowCount", turns as "turnCount", rewound.position as "from"
     from segment_step as step join segment using (run_id, ordinal)
     cross join lateral (
       select coalesce(max(position), 0)::float8 as position from rewind
       where run_id = $1 and to_training_step < step.training_step and position < $4
     ) as rewound
     cross join lateral (
       select count(*) filter (where ended < rewound.position)::integer as skipped,
         count(*) filter (where ended < $4)::integer as seen,
         sum(turn_count) filter (where ended >= rewound.position and ended < $4)::float8 as turns
       from unnest(end_positions, turn_counts) as member (ended, turn_count)
     ) as counted
     where run_id = $1 and step.training_step between $2 and $3 and seen > skipped
     order by step.training_step, ordinal`,
    [runId, first, last, asOf],
  );
  return rows;
}

/** What there is of one training step as of a position. */
export function segmentsOf(db: Queryable, runId: string, trainingStep: number, asOf: number): Promise<SegmentSlice[]> {
  return segmentSlices(db, runId, { first: trainingStep, last: trainingStep }, asOf);
}
