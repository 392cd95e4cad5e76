import { keepRow, noRows, sortedPlaces, type BestRows } from './best-rows.js';
import type { Device } from './device.js';
import { rowCountOf, rowsTensor } from './rows.js';
import type { Nearest, NearestAsked } from './nearest-rows.js';
import { takeValues } from './take-values.js';

/**
 * The device multiplies block by block and the processor keeps the best, k a query. To choose by wasm as well takes four times
 * as long as to multiply. Among the rows themselves a pair of blocks is multiplied once and looked at from both sides.
 */
export async function nearestOnProcessor(
  device: Device,
  { queries, candidates, k, side }: NearestAsked,
): Promise<Nearest> {
  const { tf } = device;
  const others = candidates ?? queries;
  const [queryCount, otherCount] = [rowCountOf(queries), rowCountOf(others)];
  const best = noRows(queryCount, Math.min(k, otherCount));
  for (let first = 0; first < otherCount; first += side) {
    const last = Math.min(first + side, otherCount);
    const right = tf.tidy(() => tf.transpose(rowsTensor(device, others, first, last)));
    try {
      const end = candidates ? queryCount : last;
      for (let from = 0; from < end; from += side) {
        const to = Math.min(from + side, end);
        const products = await takeValues(tf.tidy(() => tf.matMul(rowsTensor(device, queries, from, to), right)));
        keepBest(best, { products, from, to, first, last }, candidates === null);
      }
    } finally {
      right.dispose();
    }
  }
  return sorted(best, k);
}

interface Block {
  /** [queries × candidates] */
  readonly products: Float32Array;
  /** queries from .. to − 1 */
  readonly from: number;
  readonly to: number;
  /** candidates first .. last − 1 */
  readonly first: number;
  readonly last: number;
}

/** @param areSame queries and candidates are the same rows, and their blocks come once: the queries' is never the later one */
function keepBest(best: BestRows, { products, from, to, first, last }: Block, areSame: boolean): void {
  const { least } = best;
  const isMirrored = areSame && from !== first;
  const width = last - first;
  for (let query = from; query < to; query++) {
    const start = (query - from) * width - first;
    let enough = least[query];
    for (let row = first; row < last; row++) {
      const product = products[start + row];
      if (product > enough && !(areSame && row === query)) {
        keepRow(best, query, row, product);
        enough = least[query];
      }
      if (isMirrored && product > least[row]) keepRow(best, row, query, product);
    }
  }
}

function sorted(best: BestRows, k: number): Nearest {
  const queryCount = best.counts.length;
  const rows = new Int32Array(queryCount * k).fill(-1);
  const similarity = new Float32Array(queryCount * k).fill(NaN);
  for (let query = 0; query < queryCount; query++) {
    sortedPlaces(best, query).forEach((place, i) => {
      rows[query * k + i] = best.rows[place];
      similarity[query * k + i] = best.values[place];
    });
  }
  return { rows, similarity };
}
