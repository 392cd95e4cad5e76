import { canonicalJson } from '#lib/kernel';
import type { Queryable } from '#lib/storage';

/** A checkpoint without its numbers. */
export interface CheckpointOutline {
  readonly trainingStep: number;
  readonly position: number;
  /** only checkpoints of one kind can be compared: their projection, tensors and sizes */
  readonly kind: string;
  /** how the sketch is divided, in its order */
  readonly tensors: readonly { readonly name: string; readonly size: number }[];
}

/** The checkpoints of a run as of a position, ascending by training step: the last word on each, those that no rewind superseded. */
export async function checkpointsOf(db: Queryable, runId: string, asOf: number): Promise<CheckpointOutline[]> {
  const { rows } = await db.query(
    `select distinct on (training_step) training_step as "trainingStep", position::float8 as position,
       length(sketch) / 4 as size, tensors, projection
     from checkpoint_sketch
     where run_id = $1 and position < $2 and coalesce(superseded_at, $2) >= $2
     order by training_step, position desc`,
    [runId, asOf],
  );
  return rows.map(({ trainingStep, position, size, tensors: said, projection }) => {
    const tensors = said ?? [{ name: 'parameters', size }];
    return { trainingStep, position, kind: canonicalJson({ tensors, projection }), tensors };
  });
}

/** [position] the numbers of checkpoints; those that could not be measured are NaN. */
export async function sketchesAt(
  db: Queryable,
  runId: string,
  positions: readonly number[],
): Promise<ReadonlyMap<number, Float32Array>> {
  if (positions.length === 0) return new Map();
  const { rows } = await db.query(
    `select position::float8 as position, sketch from checkpoint_sketch where run_id = $1 and position = any ($2)`,
    [runId, positions],
  );
  return new Map(rows.map(({ position, sketch }) => [position, floatsOf(sketch)]));
}

function floatsOf(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
}
