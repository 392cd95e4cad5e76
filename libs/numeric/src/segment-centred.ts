import { LEAST_SPREAD, type Numbers } from './numbers.js';
import { segmentMoments } from './segment-moments.js';
import { unsetDoubles } from './unset.js';

/** A segment's place in the table: how many values, their sum, the latest one, the sum of the steps from one to the next. */
const [COUNT, SUM, LATEST, STEPS, WIDTH] = [0, 1, 2, 3, 4];
/** And what takes the place of the latest: the mean, which is the latest itself where all are equal. */
const MEAN = LATEST;

/** Beyond this mean step, of a value's size, there is no doubt that values differ. */
const SURELY = 1e-9;

/**
 * Each value against the mean of its segment; 0 where all values of the segment are equal, and where there is one.
 *
 *     c[i] = x[i] − mean[s]      s = segmentOf[i]; segments of one value, or without spread: 0
 *
 * What counts as no spread is what `segmentMoments` says, and so are the means, to the last bit. The spread itself is not
 * needed for that but where values are very near each other. All of it is without branches that data decide: guessing
 * them wrong cost more than everything else here.
 *
 * @param values [rows]
 * @param segmentOf [rows] below segmentCount
 * @returns [rows]
 */
export function segmentCentred(values: Numbers, segmentOf: Int32Array, segmentCount: number): Float64Array {
  const table = sumsOf(values, segmentOf, segmentCount);
  if (!areMeansDecided(table)) return centredBySpread(values, segmentOf, segmentCount);
  const centred = unsetDoubles(values.length);
  for (let i = 0; i < centred.length; i++) {
    centred[i] = values[i] - table[segmentOf[i] * WIDTH + MEAN] + 0; // no -0
  }
  return centred;
}

/** [segments · WIDTH], side by side, so that a row touches one place in memory. */
function sumsOf(values: Numbers, segmentOf: Int32Array, segmentCount: number): Float64Array {
  const table = new Float64Array(segmentCount * WIDTH);
  for (let i = 0; i < values.length; i++) {
    const at = segmentOf[i] * WIDTH;
    const value = values[i];
    const hasLatest = Number(table[at + COUNT] > 0);
    table[at + COUNT]++;
    table[at + SUM] += value;
    table[at + STEPS] += Math.abs(value - table[at + LATEST]) * hasLatest;
    table[at + LATEST] = value;
  }
  return table;
}

/** Puts means in the place of sums. @returns false where values are so near, or so large, that only their spread decides */
function areMeansDecided(table: Float64Array): boolean {
  for (let at = 0; at < table.length; at += WIDTH) {
    const count = table[at + COUNT];
    const step = table[at + STEPS] / count;
    const doubt = Math.max(SURELY * Math.max(1, Math.abs(table[at + LATEST])), 8 * LEAST_SPREAD * Math.sqrt(count));
    const differs = step > doubt && step < Infinity;
    if (!differs && step !== 0 && count > 0) return false;
    if (differs) table[at + MEAN] = table[at + SUM] / count;
  }
  return true;
}

function centredBySpread(values: Numbers, segmentOf: Int32Array, segmentCount: number): Float64Array {
  const { weight, mean, std } = segmentMoments(values, null, segmentOf, segmentCount);
  const centred = new Float64Array(values.length);
  for (let i = 0; i < centred.length; i++) {
    const s = segmentOf[i];
    if (weight[s] > 1 && std[s] !== 0) centred[i] = values[i] - mean[s];
  }
  return centred;
}
