import type { Tensor2D } from '@tensorflow/tfjs-core';
import type { Device } from './device.js';

/** Rows of numbers: `values[row * width + k]`. */
export interface Rows {
  readonly values: Float32Array;
  readonly width: number;
}

export const rowCountOf = ({ values, width }: Rows): number => values.length / width;

/** Some of the rows, in the order in which they are named. @returns [chosen × width] */
export function chosenRows({ values, width }: Rows, chosen: ArrayLike<number>): Float32Array {
  const copied = new Float32Array(chosen.length * width);
  for (let i = 0; i < chosen.length; i++) {
    copied.set(values.subarray(chosen[i] * width, (chosen[i] + 1) * width), i * width);
  }
  return copied;
}

/** Rows from one up to another, as a tensor [to − from × width]. */
export const rowsTensor = ({ tf }: Device, { values, width }: Rows, from: number, to: number): Tensor2D =>
  tf.tensor2d(values.subarray(from * width, to * width), [to - from, width]);

// Two traps of matMul on wasm. With its flags, which transpose on the way, it takes ten times as long as transposing first. And
// it remembers the matrix on the right by its data: multiplied again under another shape (reshape) it gives wrong numbers.

/** [left × right] Products of rows with rows. */
export const productsWith = ({ tf }: Device, left: Tensor2D, right: Tensor2D): Tensor2D =>
  tf.matMul(left, tf.transpose(right));

/** [left's width × right's width] leftᵀ right, over rows that belong together. Cheapest where right is the narrower one. */
export const summedProducts = ({ tf }: Device, left: Tensor2D, right: Tensor2D): Tensor2D =>
  tf.transpose(tf.matMul(tf.transpose(right), left));

/**
 * How many rows may be compared with as many at once: neither they nor two tables of their products exceed the device's
 * largest tensor.
 *
 * @param most where the device allows more
 */
export function blockSide({ maxElements }: Device, width: number, most: number): number {
  const side = Math.min(most, Math.floor(Math.sqrt(maxElements / 2)), Math.floor(maxElements / width));
  return Math.max(1, side);
}
