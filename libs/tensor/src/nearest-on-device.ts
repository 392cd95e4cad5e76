import { rowsWhere } from '#lib/numeric';
import type { Tensor2D } from '@tensorflow/tfjs-core';
import type { Device } from './device.js';
import type { Nearest, NearestAsked } from './nearest-rows.js';
import { chosenRows, productsWith, rowCountOf, rowsTensor, type Rows } from './rows.js';

/** Below any product of vectors of unit length. */
const NEVER = -4;

/**
 * The device multiplies block by block and keeps the best k a query itself, so that nothing of the products is read back:
 * of 100,000 rows they are 20 GB. Rows that hold a NaN are left out beforehand, since shaders may take NaN for a number.
 */
export async function nearestOnDevice(device: Device, asked: NearestAsked): Promise<Nearest> {
  const sought = soundRows(asked.queries);
  const offered = asked.candidates && soundRows(asked.candidates);
  const found = await nearestSound(device, { ...asked, queries: sought.rows, candidates: offered && offered.rows });
  const { k } = asked;
  const queryCount = rowCountOf(asked.queries);
  const rows = new Int32Array(queryCount * k).fill(-1);
  const similarity = new Float32Array(queryCount * k).fill(NaN);
  const named = offered ?? sought;
  sought.of.forEach((query, i) => {
    for (let j = 0; j < k; j++) {
      const row = found.rows[i * k + j];
      if (row >= 0) rows[query * k + j] = named.of[row];
    }
    similarity.set(found.similarity.subarray(i * k, (i + 1) * k), query * k);
  });
  return { rows, similarity };
}

/** The rows without a NaN, and which they are. */
function soundRows(rows: Rows): { readonly rows: Rows; readonly of: Int32Array } {
  const of = rowsWhere(rowCountOf(rows), (row) => !rowOf(rows, row).some(Number.isNaN));
  return { rows: of.length < rowCountOf(rows) ? { ...rows, values: chosenRows(rows, of) } : rows, of };
}

const rowOf = ({ values, width }: Rows, row: number) => values.subarray(row * width, (row + 1) * width);

async function nearestSound(device: Device, { queries, candidates, k, side }: NearestAsked): Promise<Nearest> {
  const queryCount = rowCountOf(queries);
  const rows = new Int32Array(queryCount * k).fill(-1);
  const similarity = new Float32Array(queryCount * k).fill(NaN);
  for (let from = 0; from < queryCount; from += side) {
    const to = Math.min(from + side, queryCount);
    const best = bestOfBlock(device, queries, candidates, { from, to, side, k });
    if (!best) continue;
    const kept = best.values.shape[1];
    const [values, places] = await Promise.all([best.values.data(), best.indices.data()]).finally(() =>
      device.tf.dispose([best.values, best.indices]),
    );
    for (let i = 0; i < to - from; i++) {
      for (let j = 0; j < kept; j++) {
        if (values[i * kept + j] <= NEVER) continue;
        rows[(from + i) * k + j] = places[i * kept + j];
        similarity[(from + i) * k + j] = values[i * kept + j];
      }
    }
  }
  return { rows, similarity };
}

interface Best {
  /** [queries × up to k] */
  readonly values: Tensor2D;
  /** [queries × up to k] rows among all candidates */
  readonly indices: Tensor2D;
}

/** The best k of all candidates for a block of queries, kept on the device; null: there is no candidate. */
function bestOfBlock(
  device: Device,
  queries: Rows,
  candidates: Rows | null,
  { from, to, side, k }: { from: number; to: number; side: number; k: number },
): Best | null {
  const { tf } = device;
  const others = candidates ?? queries;
  const otherCount = rowCountOf(others);
  const left = rowsTensor(device, queries, from, to);
  let best: Best | null = null;
  try {
    for (let first = 0; first < otherCount; first += side) {
      const last = Math.min(first + side, otherCount);
      const before: Best | null = best;
      const [values, indices] = tf.tidy((): [Tensor2D, Tensor2D] => {
        let products: Tensor2D = productsWith(device, left, rowsTensor(device, others, first, last));
        if (!candidates) {
          const own = tf.equal(
            tf.reshape(tf.range(from, to, 1, 'int32'), [to - from, 1]),
            tf.reshape(tf.range(first, last, 1, 'int32'), [1, last - first]),
          );
          products = tf.where(own, tf.fill(products.shape, NEVER), products);
        }
        const top = tf.topk(products, Math.min(k, last - first));
        const place: Tensor2D = tf.cast(tf.add(top.indices, tf.scalar(first, 'int32')), 'int32');
        const found: Best = { values: top.values, indices: place };
        const kept = before ? better(device, before, found, k) : found;
        return [kept.values, kept.indices];
      });
      best = { values, indices };
      if (before) tf.dispose([before.values, before.indices]);
    }
    return best;
  } catch (error) {
    if (best) tf.dispose([best.values, best.indices]);
    throw error;
  } finally {
    left.dispose();
  }
}

/** The best k of two lists. The places are gathered from one flat row: wasm's gather by batches reads beyond its memory. */
function better({ tf }: Device, a: Best, b: Best, k: number): Best {
  const all = tf.concat2d([a.values, b.values], 1);
  const [rowCount, columnCount] = all.shape;
  const { values, indices } = tf.topk(all, Math.min(k, columnCount));
  const starts = tf.reshape(tf.range(0, rowCount * columnCount, columnCount, 'int32'), [rowCount, 1]);
  const flat = tf.reshape(tf.concat2d([a.indices, b.indices], 1), [-1]);
  return { values, indices: tf.gather(flat, tf.cast(tf.add(indices, starts), 'int32')) as Tensor2D };
}
