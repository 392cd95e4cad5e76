import type { Queryable } from '#lib/storage';
import type { SegmentRows, ShardSource } from './result-key.js';

/** The trajectories of one training step of a run, as of a position. */
export interface StepSource extends ShardSource {
  readonly trainingStep: number;
  /** position: what ended before it was superseded by a rewind; 0: nothing was */
  readonly from: number;
  readonly trajectoryCount: number;
  readonly turnCount: number;
}

interface StepRow {
  readonly trainingStep: number;
  readonly numericKey: string;
  readonly textKey: string;
  readonly sha256: string;
  readonly firstRow: number;
  readonly ends: readonly number[];
  readonly turns: readonly number[];
}

/**
 * What each training step of a run holds, ascending: finished trajectories that had ended before `asOf` and that no
 * rewind before `asOf` superseded. Reads the index of the segments, not the segments.
 */
export async function stepSources(
  db: Queryable,
  runId: string,
  asOf: number,
  { from = 0, to = 2_147_483_647 }: { readonly from?: number | undefined; readonly to?: number | undefined } = {},
): Promise<StepSource[]> {
  const [rows, rewinds, annotations] = await Promise.all([
    segmentSteps(db, runId, asOf, from, to),
    rewindsBefore(db, runId, asOf),
    lastAnnotations(db, runId, asOf),
  ]);
  const sources = new Map<number, StepSource>();
  for (const row of rows) {
    const { trainingStep } = row;
    const since = Math.max(0, ...rewinds.filter(({ toStep }) => toStep < trainingStep).map(({ position }) => position));
    const first = countBelow(row.ends, since);
    const rowCount = countBelow(row.ends, asOf) - first;
    if (rowCount <= 0) continue;
    const segment: SegmentRows = {
      numericKey: row.numericKey,
      textKey: row.textKey,
      sha256: row.sha256,
      firstRow: row.firstRow + first,
      rowCount,
    };
    const before = sources.get(trainingStep);
    sources.set(trainingStep, {
      trainingStep,
      from: since,
      segments: [...(before?.segments ?? []), segment],
      lastAnnotation: annotations.get(trainingStep) ?? null,
      trajectoryCount: (before?.trajectoryCount ?? 0) + rowCount,
      turnCount: (before?.turnCount ?? 0) + sum(row.turns.slice(first, first + rowCount)),
    });
  }
  return [...sources.values()].toSorted((a, b) => a.trainingStep - b.trainingStep);
}

async function segmentSteps(db: Queryable, runId: string, asOf: number, from: number, to: number): Promise<StepRow[]> {
  const { rows } = await db.query(
    `select step.training_step as "trainingStep", step.first_row as "firstRow",
       step.end_positions::float8[] as ends, step.turn_counts as turns,
       segment.numeric_key as "numericKey", segment.text_key as "textKey", encode(segment.numeric_sha256, 'hex') as sha256
     from segment_step step join segment using (run_id, ordinal)
     where step.run_id = $1 and step.training_step between $3 and $4 and step.end_positions[1] < $2
     order by step.training_step, step.ordinal`,
    [runId, asOf, from, to],
  );
  return rows;
}

async function rewindsBefore(
  db: Queryable,
  runId: string,
  asOf: number,
): Promise<{ position: number; toStep: number }[]> {
  const { rows } = await db.query(
    `select position::float8 as position, to_training_step as "toStep" from rewind where run_id = $1 and position < $2`,
    [runId, asOf],
  );
  return rows;
}

/** Per training step the position of the last annotation of one of its trajectories. */
async function lastAnnotations(db: Queryable, runId: string, asOf: number): Promise<Map<number, number>> {
  const { rows } = await db.query(
    `select trajectory.training_step as step, max(annotation.position)::float8 as position
     from annotation join trajectory on trajectory.run_id = annotation.run_id and trajectory.id = annotation.trajectory_id
     where annotation.run_id = $1 and annotation.position < $2 group by 1`,
    [runId, asOf],
  );
  return new Map(rows.map(({ step, position }: { step: number; position: number }) => [step, position]));
}

function countBelow(rising: readonly number[], bound: number): number {
  const at = rising.findIndex((value) => value >= bound);
  return at < 0 ? rising.length : at;
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
