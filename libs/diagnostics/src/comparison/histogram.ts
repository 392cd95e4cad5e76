import { signOf, ZERO_TOLERANCE } from './sums.js';

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
 *
 *     step = floor(4 · (log10 |A| + 8)), in 0 .. 63
 *
 * Looked up, because a logarithm costs 20 ns: the upper bits of a number say between which two steps it lies.
 */
export function histogramBin(credit: number): number {
  const sign = signOf(credit);
  if (sign === 0) return SIDE;
  const size = Math.abs(credit);
  if (size >= STEP_STARTS[SIDE - 1]) return SIDE + sign * SIDE;
  const step = stepAtLeast[cellOf(size)];
  return SIDE + sign * (1 + step + Number(size >= STEP_STARTS[step + 1]));
}

function stepOf(size: number): number {
  const step = Math.floor((Math.log10(size) - LEAST_DECADE) * PER_DECADE);
  return Math.max(0, Math.min(SIDE - 1, step));
}

/** The least number of each step, by bisection between the rounded edges. */
const STEP_STARTS = Float64Array.from({ length: SIDE }, (_, step) => {
  if (step === 0) return 0;
  const edge = 10 ** (LEAST_DECADE + step / PER_DECADE);
  let [below, start] = [edge * (1 - 1e-9), edge * (1 + 1e-9)];
  for (;;) {
    const middle = below + (start - below) / 2;
    if (middle <= below || middle >= start) return start;
    if (stepOf(middle) < step) below = middle;
    else start = middle;
  }
});

/** A cell: exponent and four bits of the fraction of a double, a factor of at most 17/16, so that at most one step starts in it. */
const CELL_BITS = 4;
const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);
const upperHalf = new Uint8Array(Uint16Array.of(1).buffer)[0]; // 1 where the lower half comes first

function rawCell(size: number): number {
  double[0] = size;
  return halves[upperHalf] >>> (20 - CELL_BITS);
}

const FIRST_CELL = rawCell(ZERO_TOLERANCE);
const cellOf = (size: number) => rawCell(size) - FIRST_CELL;

/** [cells] the step of the least number of each cell */
const stepAtLeast = Uint8Array.from({ length: cellOf(10 ** (LEAST_DECADE + DECADES)) + 1 }, (_, cell) => {
  halves[upperHalf] = (FIRST_CELL + cell) << (20 - CELL_BITS);
  halves[1 - upperHalf] = 0;
  return stepOf(double[0]);
});

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
