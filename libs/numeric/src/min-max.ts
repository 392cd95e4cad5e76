import { allEqual, type Numbers } from './numbers.js';

/**
 * Each value's place between the least and the greatest of its segment.
 *
 *     y = (x − min_s) / (max_s − min_s + ε)
 *
 * All equal: exactly 0. NaN says nothing and stays NaN.
 *
 * @param values [rows]
 * @param segmentOf [rows] null: all rows are one segment
 * @returns [rows]
 */
export function minMaxScaled(
  values: Numbers,
  segmentOf: Int32Array | null,
  segmentCount: number,
  epsilon = 0,
): Float64Array {
  const min = new Float64Array(segmentCount).fill(Infinity);
  const max = new Float64Array(segmentCount).fill(-Infinity);
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf ? segmentOf[i] : 0;
    if (values[i] < min[s]) min[s] = values[i];
    if (values[i] > max[s]) max[s] = values[i];
  }
  return Float64Array.from(values, (value, i) => {
    const s = segmentOf ? segmentOf[i] : 0;
    if (Number.isNaN(value)) return NaN;
    return allEqual(min[s], max[s]) ? 0 : (value - min[s]) / (max[s] - min[s] + epsilon);
  });
}
