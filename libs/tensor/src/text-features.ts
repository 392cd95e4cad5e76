import { rowsWhere, seededRandom } from '#lib/numeric';
import type { Tensor2D } from '@tensorflow/tfjs-core';
import type { Device } from './device.js';
import { takeValues } from './take-values.js';
import { TERM_BUCKETS, termWeights, type DocumentFrequencies, type TermWeights } from './text-terms.js';

/** Numbers that stand for a text. */
export const FEATURE_WIDTH = 256;

/** What the bits of the projection stand for: ±1/16. Looked up, since every second branch on a random bit goes wrong. */
const SIGNED = Float32Array.of(-1 / Math.sqrt(FEATURE_WIDTH), 1 / Math.sqrt(FEATURE_WIDTH));
/** Signs that one whole number holds. */
const SIGNS = 32;

/** Texts of a block, at most. */
const MOST_TEXTS = 1024;
/** Buckets of a block, at most, unless one text alone has more. */
const MOST_BUCKETS = 1024;

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
  await device.activate();
  const signs = randomSigns(seed);
  const features = new Float32Array((terms.offsets.length - 1) * FEATURE_WIDTH);
  const mostOf = (most: number, width: number) => Math.max(1, Math.min(most, Math.floor(device.maxElements / width)));
  const mostBuckets = mostOf(MOST_BUCKETS, FEATURE_WIDTH);
  const mostTexts = mostOf(MOST_TEXTS, Math.max(mostBuckets, FEATURE_WIDTH));
  for (const block of blocksOf(terms, mostTexts, mostBuckets)) {
    const values = await takeValues(projectBlock(device, terms, block, signs, mostBuckets));
    block.rows.forEach((row, i) => {
      features.set(values.subarray(i * FEATURE_WIDTH, (i + 1) * FEATURE_WIDTH), row * FEATURE_WIDTH);
    });
  }
  return features;
}

/** [rows × 256] */
function projectBlock(
  { tf }: Device,
  terms: TermWeights,
  { rows, buckets }: Block,
  signs: Int32Array,
  mostBuckets: number,
): Tensor2D {
  return tf.tidy(() => {
    let sums: Tensor2D = tf.zeros([rows.length, FEATURE_WIDTH]);
    // more than once only for a text that has so many terms alone
    for (let from = 0; from < buckets.length; from += mostBuckets) {
      const some = buckets.subarray(from, from + mostBuckets);
      const weights = tf.tensor2d(weightsIn(terms, rows, some), [rows.length, some.length]);
      const projection = tf.tensor2d(projectionOf(signs, some), [some.length, FEATURE_WIDTH]);
      sums = tf.add(sums, tf.matMul(weights, projection));
    }
    const norm = tf.sqrt(tf.sum(tf.square(sums), 1, true));
    return tf.div(sums, tf.maximum(norm, 1e-12));
  });
}

/** [buckets × 256] ±1/16. Written here: to gather rows on wasm takes twenty times as long as the product. */
function projectionOf(signs: Int32Array, buckets: Int32Array): Float32Array {
  const projection = new Float32Array(buckets.length * FEATURE_WIDTH);
  for (let at = 0; at < projection.length; at += SIGNS) {
    const bucket = buckets[Math.floor(at / FEATURE_WIDTH)];
    const bits = signs[(bucket * FEATURE_WIDTH + (at % FEATURE_WIDTH)) / SIGNS];
    for (let k = 0; k < SIGNS; k++) projection[at + k] = SIGNED[(bits >>> k) & 1];
  }
  return projection;
}

/** [rows × buckets] */
function weightsIn(terms: TermWeights, rows: readonly number[], buckets: Int32Array): Float32Array {
  const columnOf = new Int32Array(TERM_BUCKETS).fill(-1);
  for (let i = 0; i < buckets.length; i++) columnOf[buckets[i]] = i;
  const weights = new Float32Array(rows.length * buckets.length);
  rows.forEach((row, i) => {
    for (let term = terms.offsets[row]; term < terms.offsets[row + 1]; term++) {
      const column = columnOf[terms.buckets[term]];
      if (column >= 0) weights[i * buckets.length + column] = terms.weights[term];
    }
  });
  return weights;
}

/** The signs of the projection, a bit each, in the order of its numbers: 0.5 MB, drawn in a few milliseconds for each call. */
function randomSigns(seed: string | number): Int32Array {
  const random = seededRandom(`projection ${seed}`);
  return Int32Array.from({ length: (TERM_BUCKETS * FEATURE_WIDTH) / SIGNS }, () => random.integer(2 ** 32));
}

/** Texts that are projected at once, and the buckets that any of them has a term in. */
interface Block {
  readonly rows: readonly number[];
  /** ascending */
  readonly buckets: Int32Array;
}

/** Texts in their order, as many at once as have few buckets between them; one without a term is in none. */
function* blocksOf(terms: TermWeights, mostTexts: number, mostBuckets: number): Generator<Block> {
  const { offsets, buckets } = terms;
  const seenIn = new Int32Array(TERM_BUCKETS); // the number of the block that a bucket was seen in
  const bucketsOf = (block: number) => rowsWhere(TERM_BUCKETS, (bucket) => seenIn[bucket] === block);
  let [rows, count, number]: [number[], number, number] = [[], 0, 1];
  for (let row = 0; row + 1 < offsets.length; row++) {
    const own = buckets.subarray(offsets[row], offsets[row + 1]);
    if (own.length === 0) continue;
    const more = own.reduce((sum, bucket) => sum + Number(seenIn[bucket] !== number), 0);
    if (rows.length > 0 && (rows.length === mostTexts || count + more > mostBuckets)) {
      yield { rows, buckets: bucketsOf(number++) };
      [rows, count] = [[], 0];
    }
    rows.push(row);
    for (const bucket of own) {
      if (seenIn[bucket] !== number) count++;
      seenIn[bucket] = number;
    }
  }
  if (rows.length > 0) yield { rows, buckets: bucketsOf(number) };
}
