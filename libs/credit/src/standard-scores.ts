import { segmentMoments, type Numbers } from '#lib/numeric';
import { centred, scaled, type Singleton } from './group-scores.js';

interface StandardScoreParams {
  readonly epsilon: number;
  readonly singleton: Singleton;
  readonly normalizeByStd?: boolean;
  readonly ddof?: 0 | 1;
}

/**
 * Standard scores inside each segment.
 *
 *     z = (x − mean_s) / (std_s + ε)      exactly 0 where the segment agrees; without normalizeByStd no division
 *
 * A segment of one row: see Singleton. `ddof` is that of the std, 1 unless given; so is normalizeByStd true.
 *
 * @param values [rows]
 * @param segmentOf [rows] -1: 0
 * @returns [rows]
 */
export function standardScores(
  values: Numbers,
  segmentOf: Int32Array,
  segmentCount: number,
  { epsilon, singleton, normalizeByStd = true, ddof = 1 }: StandardScoreParams,
): Float64Array {
  const moments = segmentMoments(values, null, segmentOf, segmentCount, ddof);
  const centre = centred(values, segmentOf, moments, singleton);
  return normalizeByStd ? scaled(centre, segmentOf, moments, epsilon) : centre;
}
