import type { Device } from './device.js';

/** Rows of numbers: `values[row * width + k]`. */
export interface Rows {
  readonly values: Float32Array;
  readonly width: number;
}

/** Rows from one up to another, as a tensor [to − from × width]. */
export const rowsTensor = ({ tf }: Device, { values, width }: Rows, from: number, to: number) =>
  tf.tensor2d(values.subarray(from * width, to * width), [to - from, width]);

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
