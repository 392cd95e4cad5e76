import { signalValues } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import type { Rows } from '#lib/tensor';
import { z } from 'zod';

const EMBEDDING = z.array(z.number());

/** The signal that holds an embedding of the state before a turn, and what its values are. */
export const EMBEDDING_KINDS = { 'turn.embedding': EMBEDDING } as const;

/** [turns] null: none was logged */
export type Embeddings = readonly (readonly number[] | null)[];

/** What the trainer logged; null: nothing. */
export const loggedEmbeddings = (trajectories: TrajectoryBatch) =>
  signalValues(trajectories, 'turn.embedding', EMBEDDING) as Embeddings | null;

/** One row per embedding, each of unit length, or of the one that is said; one of zeros, or of another width, is zeros. */
export function unitRows(embeddings: Embeddings, width: number, length = 1): Rows {
  const values = new Float32Array(embeddings.length * width);
  embeddings.forEach((embedding, row) => {
    if (embedding?.length !== width) return;
    const own = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0)) || 1;
    embedding.forEach((value, k) => (values[row * width + k] = (value / own) * length));
  });
  return { values, width };
}
