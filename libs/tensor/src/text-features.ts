import { seededRandom } from '#lib/numeric';
import type { Device } from './device.js';
import { TERM_BUCKETS, termWeights, type DocumentFrequencies, type TermWeights } from './text-terms.js';

/** Numbers that stand for a text. */
export const FEATURE_WIDTH = 256;

/** A batch's gathered rows may take this share of the largest tensor. */
const SHARE = 1 / 8;

/**
 * Texts as vectors: hashed n-grams (see termWeights), projected at random to 256 numbers, of unit length.
 *
 *     x = P · weights / |P · weights|      P: [256 × buckets] of ±1/16, drawn from the seed
 *
 * Equal texts get equal vectors, and a product of two vectors is about the cosine of their terms. A text without a word is 0.
 *
 * @param among the texts that words are weighed by; these texts, if not said
 * @returns [texts × 256]
 */
export async function textFeatures(
  device: Device,
  texts: readonly string[],
  seed: string | number,
  among?: DocumentFrequencies,
): Promise<Float32Array> {
  return projectTerms(device, termWeights(texts, among), seed);
}

async function projectTerms(device: Device, terms: TermWeights, seed: string | number): Promise<Float32Array> {
  const { tf } = device;
  await device.activate();
  const features = new Float32Array((terms.offsets.length - 1) * FEATURE_WIDTH);
  const projection = tf.tensor2d(randomSigns(seed), [TERM_BUCKETS, FEATURE_WIDTH]);
  try {
    for (const rows of batchesByLength(terms, (device.maxElements * SHARE) / FEATURE_WIDTH)) {
      const { length, buckets, weights } = padded(terms, rows);
      const projected = tf.tidy(() => {
        const gathered = tf.gather(projection, tf.tensor1d(buckets, 'int32'));
        const sums = tf.matMul(
          tf.tensor3d(weights, [rows.length, 1, length]),
          tf.reshape(gathered, [rows.length, length, FEATURE_WIDTH]),
        );
        const flat = tf.reshape(sums, [rows.length, FEATURE_WIDTH]);
        const norm = tf.sqrt(tf.sum(tf.square(flat), 1, true));
        return tf.div(flat, tf.maximum(norm, 1e-12));
      });
      const values = await projected.data();
      projected.dispose();
      rows.forEach((row, i) => {
        features.set(values.subarray(i * FEATURE_WIDTH, (i + 1) * FEATURE_WIDTH), row * FEATURE_WIDTH);
      });
    }
  } finally {
    projection.dispose();
  }
  return features;
}

/** [buckets × 256] ±1/16 */
function randomSigns(seed: string | number): Float32Array {
  const random = seededRandom(`projection ${seed}`);
  const unit = 1 / Math.sqrt(FEATURE_WIDTH);
  const signs = new Float32Array(TERM_BUCKETS * FEATURE_WIDTH);
  for (let i = 0; i < signs.length; i += 32) {
    const bits = random.integer(2 ** 32);
    for (let k = 0; k < 32; k++) signs[i + k] = (bits >>> k) & 1 ? unit : -unit;
  }
  return signs;
}

/** Rows that have terms, shortest first, as many at once as fit when all are as long as the longest. */
function* batchesByLength({ offsets }: TermWeights, maxTerms: number): Generator<number[]> {
  const lengthOf = (row: number) => offsets[row + 1] - offsets[row];
  const rows = Array.from({ length: offsets.length - 1 }, (_, row) => row).filter((row) => lengthOf(row) > 0);
  rows.sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
  let batch: number[] = [];
  for (const row of rows) {
    if (batch.length > 0 && (batch.length + 1) * lengthOf(row) > maxTerms) {
      yield batch;
      batch = [];
    }
    batch.push(row);
  }
  if (batch.length > 0) yield batch;
}

/** Terms of the rows side by side; what is shorter than the longest ends in weights of 0. */
function padded(terms: TermWeights, rows: readonly number[]) {
  const { offsets } = terms;
  const length = Math.max(...rows.map((row) => offsets[row + 1] - offsets[row]));
  const buckets = new Int32Array(rows.length * length);
  const weights = new Float32Array(rows.length * length);
  rows.forEach((row, i) => {
    buckets.set(terms.buckets.subarray(offsets[row], offsets[row + 1]), i * length);
    weights.set(terms.weights.subarray(offsets[row], offsets[row + 1]), i * length);
  });
  return { length, buckets, weights };
}
