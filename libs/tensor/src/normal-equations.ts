import type { Device } from './device.js';
import { rowsTensor, summedProducts, type Rows } from './rows.js';
import { takeValues } from './take-values.js';

/** What a linear fit needs of its rows. */
export interface NormalEquations {
  /** [width × width] XᵀX */
  readonly gram: Float64Array;
  /** [width] Xᵀy */
  readonly moment: Float64Array;
}

const BLOCK_ROWS = 4096;

/**
 * XᵀX and Xᵀy of rows and their targets: products in float32 on the device, block by block, blocks added in float64.
 *
 * @param targets [rows]
 */
export async function normalEquations(device: Device, rows: Rows, targets: Float32Array): Promise<NormalEquations> {
  const { tf } = device;
  await device.activate();
  const { width } = rows;
  const gram = new Float64Array(width * width);
  const moment = new Float64Array(width);
  const blockRows = Math.max(1, Math.min(BLOCK_ROWS, Math.floor(device.maxElements / width)));
  for (let from = 0; from < targets.length; from += blockRows) {
    const to = Math.min(from + blockRows, targets.length);
    const products = tf.tidy(() => {
      const x = rowsTensor(device, rows, from, to);
      const y = tf.tensor2d(targets.subarray(from, to), [to - from, 1]);
      return [summedProducts(device, x, x), summedProducts(device, x, y)];
    });
    const [squares, sums] = await Promise.all(products.map(takeValues));
    for (let i = 0; i < gram.length; i++) gram[i] += squares[i];
    for (let i = 0; i < width; i++) moment[i] += sums[i];
  }
  return { gram, moment };
}
