import type { Tensor2D } from '@tensorflow/tfjs-core';
import type { Device } from './device.js';

/** Rows of numbers: `values[row * width + k]`. */
export interface Rows {
  readonly values: Float32Array;
  readonly width: number;
}

/** Rows from one up to another, as a tensor [to − from × width]. */
export const rowsTensor = ({ tf }: Device, { values, width }: Rows, from: number, to: number) =>
  tf.tensor2d(values.subarray(from * width, to * width), [to - from, width]);

/** [left × right] Products of rows with rows. Transposed first: wasm multiplies by a transposed matrix ten times as slowly. */
export const productsWith = ({ tf }: Device, left: Tensor2D, right: Tensor2D): Tensor2D =>
  tf.matMul(left, tf.transpose(right));

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
