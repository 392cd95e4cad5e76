import type { Rows } from '#lib/tensor';

/** Numbers that tell where in its trajectory a row is: 1 / (t + 1), ln(1 + t) / 3. */
const PLACE_WIDTH = 2;

function writePlace(values: Float32Array, at: number, t: number) {
  values[at] = 1 / (t + 1);
  values[at + 1] = Math.log1p(t) / 3;
}

/** Rows with their place: [ now[t], 1 / (t + 1), ln(1 + t) / 3 ]. */
export function inPlace(now: Rows, turnOffsets: Int32Array): Rows {
  const width = now.width + PLACE_WIDTH;
  const values = new Float32Array((now.values.length / now.width) * width);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      values.set(now.values.subarray(row * now.width, (row + 1) * now.width), row * width);
      writePlace(values, row * width + now.width, row - turnOffsets[i]);
    }
  }
  return { values, width };
}

/**
 * Rows in the light of what came before them in their trajectory.
 *
 *     [ now[t], mean of past[u] over u < t, 1 / (t + 1), ln(1 + t) / 3 ]      the mean is 0 at t = 0
 */
export function inContext(now: Rows, past: Rows, turnOffsets: Int32Array): Rows {
  const width = now.width + past.width + PLACE_WIDTH;
  const values = new Float32Array((now.values.length / now.width) * width);
  const sum = new Float64Array(past.width);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    sum.fill(0);
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      const t = row - turnOffsets[i];
      const at = row * width;
      values.set(now.values.subarray(row * now.width, (row + 1) * now.width), at);
      for (let k = 0; k < past.width; k++) {
        if (t > 0) values[at + now.width + k] = sum[k] / t;
        sum[k] += past.values[row * past.width + k];
      }
      writePlace(values, at + now.width + past.width, t);
    }
  }
  return { values, width };
}
