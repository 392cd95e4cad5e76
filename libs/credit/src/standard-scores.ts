import { segmentMoments, type Numbers } from '#lib/numeric';
import { centred, scaled, type Singleton } from './group-scores.js';

/**
 * Standard scores inside each segment.
 *
 *     z = (x − mean_s) / (std_s + ε)      std with ddof = 1; exactly 0 where the segment agrees
 *
 * A segment of one row: see Singleton.
 *
 * @param values [rows]
 * @param segmentOf [rows] -1: 0
 * @returns [rows]
 */
export function standardScores(
  values: Numbers,
  segmentOf: Int32Array,
  segmentCount: number,
  { epsilon, singleton }: { readonly epsilon: number; readonly singleton: Singleton },
): Float64Array {
  const moments = segmentMoments(values, null, segmentOf, segmentCount);
  return scaled(centred(values, segmentOf, moments, singleton), segmentOf, moments, epsilon);
}
