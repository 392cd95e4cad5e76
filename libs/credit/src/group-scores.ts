import { type Numbers, type SegmentMoments } from '#lib/numeric';

/** What a set of one element gets: 'raw' keeps it (mean 0, std 1), 'zero' gives 0. */
export type Singleton = 'raw' | 'zero';

/**
 * Each value against the mean of its segment.
 *
 *     c = x − mean_s
 *
 * Exactly 0 where all values of the segment are equal. A segment of weight 1 has nothing to compare with: see Singleton.
 *
 * @param values [rows]
 * @param segmentOf [rows] -1: 0
 * @param moments of the same values
 * @returns [rows]
 */
export function centred(
  values: Numbers,
  segmentOf: Int32Array,
  { weight, mean, std }: SegmentMoments,
  singleton: Singleton,
): Float64Array {
  const result = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    if (s < 0) continue;
    if (weight[s] === 1) result[i] = singleton === 'raw' ? values[i] : 0;
    else result[i] = std[s] === 0 ? 0 : values[i] - mean[s];
  }
  return result;
}

/**
 * Divides centred values by the spread of their segment.
 *
 *     A = c / (std_s + ε)
 *
 * A segment of weight 1 has std 1. What is exactly 0 stays so: no rounding is divided by ε.
 *
 * @param values [rows] centred; changed in place
 * @param segmentOf [rows]
 * @returns values
 */
export function scaled(
  values: Float64Array,
  segmentOf: Int32Array,
  { weight, std }: SegmentMoments,
  epsilon: number,
): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    if (values[i] === 0) continue;
    const scale = (weight[s] === 1 ? 1 : std[s]) + epsilon;
    if (scale !== 0) values[i] /= scale;
  }
  return values;
}
