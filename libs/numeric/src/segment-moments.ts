import { allEqual, LEAST_SPREAD, type Numbers } from './numbers.js';

export interface SegmentMoments {
  /** [segments] sum of the weights; 0: nothing there */
  readonly weight: Float64Array;
  /** [segments] NaN: nothing there */
  readonly mean: Float64Array;
  /** [segments] exactly 0 where all values are equal, and where there is one; NaN: its squares overflow */
  readonly std: Float64Array;
}

/**
 * Weighted mean and spread of every segment, in two passes.
 *
 *     mean[s] = Σ w x / Σ w
 *     std[s]  = sqrt(Σ w (x − mean[s])² / (Σ w − ddof))      over the rows with segmentOf = s
 *
 * A weight is a count: weight 3 is the value three times. Where all values are equal (or a spread is below 1e-12) the
 * mean is that value and the std exactly 0, so whoever divides asks for std = 0 and never divides rounding by epsilon.
 *
 * @param values [rows]
 * @param weight [rows] null: all 1; a row of weight 0 does not take part
 * @param segmentOf [rows] below segmentCount; -1: no segment
 * @param ddof 1: sample, 0: population
 */
export function segmentMoments(
  values: Numbers,
  weight: Numbers | null,
  segmentOf: Int32Array,
  segmentCount: number,
  ddof: 0 | 1 = 1,
): SegmentMoments {
  const total = new Float64Array(segmentCount);
  const mean = new Float64Array(segmentCount);
  const std = new Float64Array(segmentCount);
  const min = new Float64Array(segmentCount).fill(Infinity);
  const max = new Float64Array(segmentCount).fill(-Infinity);

  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    const w = weight ? weight[i] : 1;
    if (s < 0 || w === 0) continue;
    total[s] += w;
    mean[s] += w * values[i];
    if (values[i] < min[s]) min[s] = values[i];
    if (values[i] > max[s]) max[s] = values[i];
  }
  for (let s = 0; s < segmentCount; s++) {
    mean[s] = total[s] > 0 && allEqual(min[s], max[s]) ? max[s] : mean[s] / total[s];
  }
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    if (s >= 0) std[s] += (weight ? weight[i] : 1) * (values[i] - mean[s]) ** 2;
  }
  for (let s = 0; s < segmentCount; s++) {
    const spread = allEqual(min[s], max[s]) ? 0 : Math.sqrt(std[s] / (total[s] - ddof));
    std[s] = spread < LEAST_SPREAD ? 0 : spread === Infinity ? NaN : spread;
  }
  return { weight: total, mean, std };
}
