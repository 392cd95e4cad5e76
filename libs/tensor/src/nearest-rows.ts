import type { Device } from './device.js';
import { nearestOnDevice } from './nearest-on-device.js';
import { nearestOnProcessor } from './nearest-on-processor.js';
import { blockSide, type Rows } from './rows.js';

export interface Nearest {
  /** [queries × k] row among the candidates, most similar first; -1: there are fewer */
  readonly rows: Int32Array;
  /** [queries × k] product with it; NaN where there is none */
  readonly similarity: Float32Array;
}

/** What is sought, and in blocks of how many rows. */
export interface NearestAsked {
  readonly queries: Rows;
  /** null: the queries themselves, and no row is its own neighbour */
  readonly candidates: Rows | null;
  readonly k: number;
  readonly side: number;
}

const BLOCK = 1024;

/**
 * The k candidates with the largest product with each query: for rows of unit length, the largest cosine. Of equal products the
 * first candidate is nearer; one that is NaN is nobody's. There never is a matrix of queries × candidates: a GPU keeps the best
 * of each block itself, and what wasm multiplied is the processor's already.
 *
 * @param candidates of unit length, as queries are; null: the queries themselves, and no row is its own neighbour
 * @param block rows of a block, at most
 */
export async function nearestRows(
  device: Device,
  queries: Rows,
  candidates: Rows | null,
  k: number,
  block = BLOCK,
): Promise<Nearest> {
  await device.activate();
  const nearest = device.id === 'wasm' ? nearestOnProcessor : nearestOnDevice;
  return nearest(device, { queries, candidates, k, side: blockSide(device, queries.width, block) });
}
