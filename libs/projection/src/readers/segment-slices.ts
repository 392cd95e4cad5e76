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
  /** rows that ended before this position are superseded by a rewind and left out; 0: there is none */
  readonly from: number;
}

/**
 * From where it is read what segments hold of a run ($1) as of a position, each training step of each segment by itself: of
 * its rows, which lie by end position, those from `skipped` on are seen, before `seen`; `rewound.position` is the `from`
 * of a SegmentSlice. Rows are looked at one by one only where a rewind or the position cuts into them.
 *
 * @param asOf of the position, in SQL: `$4`
 */
export const rowsSeen = (asOf: string) => `
  segment_step as step join segment using (run_id, ordinal)
  cross join lateral (
    select coalesce(max(position), 0)::float8 as position from rewind
    where run_id = $1 and to_training_step < step.training_step and position < ${asOf}
  ) as rewound
  cross join lateral (select rewound.position = 0 and segment.end_position <= ${asOf} as are_all_seen) as known
  cross join lateral (
    select 0 as skipped, row_count as seen where are_all_seen
    union all
    select count(*) filter (where ended < rewound.position)::integer, count(*) filter (where ended < ${asOf})::integer
    from unnest(end_positions) as ended where not are_all_seen
  ) as counted
  where run_id = $1 and seen > skipped`;

/**
 * What there is of some training steps as of a position, by training step and then by end position: one statement, and
 * no file is opened. Within a step and segment the rows lie by end position, so what is to be seen is one range of them.
 *
 * @param asOf events before this position are seen; the run must be projected that far
 */
export function segmentSlices(db: Queryable, runId: string, steps: StepRange, asOf: number): Promise<SegmentSlice[]> {
  return slicesWith('', db, runId, steps, asOf);
}

/** The same, with the turns of these rows: one number per trajectory is added up. */
export function countedSlices(
  db: Queryable,
  runId: string,
  steps: StepRange,
  asOf: number,
): Promise<(SegmentSlice & { readonly turnCount: number })[]> {
  const turnCount = '(select sum(turns) from unnest(turn_counts[skipped + 1 : seen]) as turns)::float8 as "turnCount",';
  return slicesWith(turnCount, db, runId, steps, asOf);
}

async function slicesWith<Slice extends SegmentSlice>(
  columns: string,
  db: Queryable,
  runId: string,
  { first, last }: StepRange,
  asOf: number,
): Promise<Slice[]> {
  const { rows } = await db.query(
    `select step.training_step as "trainingStep", ordinal,
       numeric_key as "numericKey", encode(numeric_sha256, 'hex') as "numericSha256",
       text_key as "textKey", encode(text_sha256, 'hex') as "textSha256",
       first_row + skipped as "firstRow", seen - skipped as "rowCount", ${columns} rewound.position as "from"
     from ${rowsSeen('$4')} and step.training_step between $2 and $3
     order by step.training_step, ordinal`,
    [runId, first, last, asOf],
  );
  return rows;
}
