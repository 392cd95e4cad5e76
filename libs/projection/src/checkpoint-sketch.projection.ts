import { MAX_SKETCHED_TENSORS, SketchedTensor, tokenNumbers, type RunEvent } from '#lib/protocol';
import { z } from 'zod';
import type { ReadModel } from './read-model.js';

export interface CheckpointSketchRow {
  readonly position: number;
  readonly trainingStep: number;
  /** little-endian float32 */
  readonly sketch: Uint8Array;
  readonly tensors: readonly { readonly name: string; readonly size: number }[] | null;
  readonly projection: unknown;
  readonly recordedAt: Date;
}

export const checkpointSketchModel: ReadModel<CheckpointSketchRow> = {
  table: 'checkpoint_sketch',
  key: ['position'],
  columns: {
    position: 'bigint',
    trainingStep: 'integer',
    sketch: 'bytea',
    tensors: 'json',
    projection: 'json',
    recordedAt: 'timestamptz',
  },
};

const Tensors = z.array(SketchedTensor).min(1).max(MAX_SKETCHED_TENSORS);

/** The row of a checkpoint; none where its sketch holds no numbers, which is refused today and was not always. */
export function checkpointSketches(
  { trainingStep, sketch, tensors, projection }: Extract<RunEvent, { type: 'checkpoint.recorded' }>,
  position: number,
  recordedAt: Date,
): CheckpointSketchRow[] {
  const numbers = tokenNumbers(sketch);
  if (!numbers) return [];
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  const divided = Tensors.safeParse(tensors);
  return [
    {
      position,
      trainingStep,
      sketch: bytes,
      tensors: divided.success ? divided.data.map(({ name, size }) => ({ name, size })) : null,
      projection: projection ?? null,
      recordedAt,
    },
  ];
}
