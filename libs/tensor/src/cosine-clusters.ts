import type { Clusters } from '#lib/numeric';
import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs-core';
import type { Device } from './device.js';
import { blockSide, chosenRows, productsWith, type Rows } from './rows.js';

const BLOCK = 256;
/** Above the number of any cluster, and exact in float32 with one added. */
const NONE = 2 ** 23;

/** What is clustered: rows that have a group and a vector. */
export interface GroupedRows {
  /** of unit length; one of zeros resembles nothing */
  readonly vectors: Rows;
  /** [rows] the vector of each */
  readonly vectorOf: Int32Array;
  /** [rows] from 0 */
  readonly group: Int32Array;
}

/**
 * Online clusters by cosine: `onlineClusters` of libs/numeric, where a row resembles the first row of a cluster when
 *
 *     x[row] · x[first] ≥ threshold
 *
 * The products are computed on the device, a block of rows at a time: with the first rows of the clusters that earlier blocks
 * opened, and among themselves. A row within 1e-6 of the threshold may join on one device and open a cluster on another.
 *
 * @param block rows of a block, at most
 */
export async function cosineClusters(
  device: Device,
  rows: GroupedRows,
  threshold: number,
  block = BLOCK,
): Promise<Clusters> {
  await device.activate();
  const { group } = rows;
  const side = blockSide(device, rows.vectors.width, block);
  const order = inGroups(group);
  const firstOf = new Int32Array(order.length); // [rows] the first row of its cluster
  let earlier: number[] = []; // first rows that blocks before opened in the group at hand
  for (let from = 0; from < order.length; from += side) {
    const chosen = order.subarray(from, from + side);
    if (from > 0 && group[chosen[0]] !== group[order[from - 1]]) earlier = [];
    const { joined, alike } = await comparedBlock(device, rows, { chosen, earlier, side, threshold });
    let opened: number[] = []; // places in this block
    chosen.forEach((row, i) => {
      if (i > 0 && group[row] !== group[chosen[i - 1]]) [earlier, opened] = [[], []];
      const resembled = () => opened.find((place) => alike[i * chosen.length + place] === 1) ?? i;
      firstOf[row] = earlier[joined[i]] ?? chosen[resembled()];
      if (firstOf[row] === row) opened.push(i);
    });
    earlier.push(...opened.map((place) => chosen[place]));
  }
  return labelled(firstOf);
}

interface ComparedBlock {
  /** [rows of the block] which of the earlier ones it joins: the first that it resembles; NONE and above: none */
  readonly joined: Float32Array;
  /** [rows × rows of the block] 1: they resemble each other */
  readonly alike: ArrayLike<number>;
}

async function comparedBlock(
  device: Device,
  rows: GroupedRows,
  block: { chosen: Int32Array; earlier: readonly number[]; side: number; threshold: number },
): Promise<ComparedBlock> {
  const { tf } = device;
  const { chosen, earlier, side, threshold } = block;
  const left = vectorsOf(device, rows, chosen);
  let [joined, alike]: [Tensor1D | null, Tensor2D | null] = [null, null];
  try {
    for (let first = 0; first < earlier.length; first += side) {
      const before: Tensor1D | null = joined;
      joined = tf.tidy(() => {
        const others = vectorsOf(device, rows, earlier.slice(first, first + side));
        const isAlike = tf.greaterEqual(productsWith(device, left, others), threshold);
        const numbers = tf.range(first, first + others.shape[0]);
        const found = tf.min(tf.add(tf.mul(tf.sub(1, tf.cast(isAlike, 'float32')), NONE), numbers), 1);
        return (before ? tf.minimum(before, found) : found) as Tensor1D;
      });
      before?.dispose();
    }
    alike = tf.tidy(() => tf.greaterEqual<Tensor2D>(productsWith(device, left, left), threshold));
    return {
      joined: joined ? ((await joined.data()) as Float32Array) : new Float32Array(chosen.length).fill(NONE),
      alike: await alike.data(),
    };
  } finally {
    tf.dispose([left, ...(joined ? [joined] : []), ...(alike ? [alike] : [])]);
  }
}

/** [chosen × width] */
function vectorsOf({ tf }: Device, { vectors, vectorOf }: GroupedRows, chosen: ArrayLike<number>): Tensor2D {
  const copied = chosenRows(
    vectors,
    Array.from(chosen, (row) => vectorOf[row]),
  );
  return tf.tensor2d(copied, [chosen.length, vectors.width]);
}

/** The rows, those of a group next to each other, in their order. */
function inGroups(group: Int32Array): Int32Array {
  const order = Int32Array.from(group, (_, row) => row);
  return order.sort((a, b) => group[a] - group[b] || a - b);
}

function labelled(firstOf: Int32Array): Clusters {
  const labels = new Int32Array(firstOf.length);
  let count = 0;
  for (let row = 0; row < firstOf.length; row++) {
    labels[row] = firstOf[row] === row ? count++ : labels[firstOf[row]];
  }
  return { labels, count };
}
