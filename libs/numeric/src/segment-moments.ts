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
  const sums = new Sums(segmentCount);
  const { total, mean, std, min, max } = sums;
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    const w = weight === null ? 1 : weight[i];
    if (s < 0 || w === 0) continue;
    const value = values[i];
    total[s] += w;
    mean[s] += w * value;
    if (value < min[s]) min[s] = value;
    if (value > max[s]) max[s] = value;
  }
  sums.centre();
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    if (s < 0) continue;
    const difference = values[i] - mean[s];
    std[s] += (weight === null ? 1 : weight[i]) * (difference * difference);
  }
  return sums.moments(ddof);
}

/**
 * The same of values that stand on each child of their row: a trajectory's reward on each of its turns. To the last bit
 * what `segmentMoments(repeatRows(values, offsets), null, ...)` says, without a column of children.
 *
 * @param values [rows]
 * @param offsets [rows + 1]
 * @param segmentOf [rows] below segmentCount; -1: no segment
 */
export function repeatedMoments(
  values: Numbers,
  offsets: Int32Array,
  segmentOf: Int32Array,
  segmentCount: number,
  ddof: 0 | 1 = 1,
): SegmentMoments {
  const sums = new Sums(segmentCount);
  const { total, mean, std, min, max } = sums;
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    const times = offsets[i + 1] - offsets[i];
    if (s < 0 || times === 0) continue;
    const value = values[i];
    total[s] += times;
    mean[s] = addedTimes(mean[s], value, times);
    if (value < min[s]) min[s] = value;
    if (value > max[s]) max[s] = value;
  }
  sums.centre();
  for (let i = 0; i < values.length; i++) {
    const s = segmentOf[i];
    if (s < 0) continue;
    const difference = values[i] - mean[s];
    std[s] = addedTimes(std[s], difference * difference, offsets[i + 1] - offsets[i]);
  }
  return sums.moments(ddof);
}

/** One by one, as the sum over the children would be rounded. */
function addedTimes(sum: number, value: number, times: number): number {
  for (let k = 0; k < times; k++) sum += value;
  return sum;
}

/** What the passes share: sums while they run, moments at the end. */
class Sums {
  readonly total: Float64Array;
  readonly mean: Float64Array;
  readonly std: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;

  constructor(private readonly count: number) {
    this.total = new Float64Array(count);
    this.mean = new Float64Array(count);
    this.std = new Float64Array(count);
    this.min = new Float64Array(count).fill(Infinity);
    this.max = new Float64Array(count).fill(-Infinity);
  }

  centre(): void {
    const { total, mean, min, max } = this;
    for (let s = 0; s < this.count; s++) {
      mean[s] = total[s] > 0 && allEqual(min[s], max[s]) ? max[s] : mean[s] / total[s];
    }
  }

  moments(ddof: 0 | 1): SegmentMoments {
    const { total, mean, std, min, max } = this;
    for (let s = 0; s < this.count; s++) {
      const spread = allEqual(min[s], max[s]) ? 0 : Math.sqrt(std[s] / (total[s] - ddof));
      std[s] = spread < LEAST_SPREAD ? 0 : spread === Infinity ? NaN : spread;
    }
    return { weight: total, mean, std };
  }
}
