import { signOf } from './sums.js';

/** Decades 10^−8 … 10^8 on either side of zero, four bins each: a factor of 1.78 from edge to edge. */
const LEAST_DECADE = -8;
const DECADES = 16;
const PER_DECADE = 4;
const SIDE = DECADES * PER_DECADE;

/** One bin for zero in the middle, the negative ones below it in mirror image. */
export const HISTOGRAM_BINS = 2 * SIDE + 1;

export interface HistogramBin {
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/**
 * The bin of a credit: 0 in the middle, then by |A| with edges 10^(k/4). What is beyond 10^8 falls into the last bin.
 */
export function histogramBin(credit: number): number {
  const sign = signOf(credit);
  if (sign === 0) return SIDE;
  const step = Math.floor((Math.log10(Math.abs(credit)) - LEAST_DECADE) * PER_DECADE);
  return SIDE + sign * (1 + Math.max(0, Math.min(SIDE - 1, step)));
}

/** The bins from the first to the last that holds something, from most negative to most positive. */
export function histogramBins(counts: Float64Array): HistogramBin[] {
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  if (first < 0) return [];
  return Array.from(counts.subarray(first, last + 1), (count, i) => {
    const [low, high] = edges(first + i);
    return { low, high, count };
  });
}

function edges(bin: number): [low: number, high: number] {
  const step = Math.abs(bin - SIDE);
  const edge = (k: number) => 10 ** (LEAST_DECADE + k / PER_DECADE);
  if (step === 0) return [-edge(0), edge(0)];
  return bin > SIDE ? [edge(step - 1), edge(step)] : [-edge(step), -edge(step - 1)];
}
