import type { Device } from './device.js';
import type { Rows } from './rows.js';

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
export async function normalEquations(
  device: Device,
  { values, width }: Rows,
  targets: Float32Array,
): Promise<NormalEquations> {
  const { tf } = device;
  await device.activate();
  const gram = new Float64Array(width * width);
  const moment = new Float64Array(width);
  const blockRows = Math.max(1, Math.min(BLOCK_ROWS, Math.floor(device.maxElements / width)));
  for (let from = 0; from < targets.length; from += blockRows) {
    const to = Math.min(from + blockRows, targets.length);
    const [square, sums] = tf.tidy(() => {
      const rows = tf.tensor2d(values.subarray(from * width, to * width), [to - from, width]);
      const column = tf.tensor2d(targets.subarray(from, to), [to - from, 1]);
      // transposed first: wasm multiplies a transposed matrix ten times as slowly
      const transposed = tf.transpose(rows);
      return [tf.matMul(transposed, rows), tf.matMul(transposed, column)];
    });
    const [squareValues, sumValues] = await Promise.all([square.data(), sums.data()]);
    square.dispose();
    sums.dispose();
    for (let i = 0; i < gram.length; i++) gram[i] += squareValues[i];
    for (let i = 0; i < width; i++) moment[i] += sumValues[i];
  }
  return { gram, moment };
}
