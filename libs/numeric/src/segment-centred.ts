import { LEAST_SPREAD, type Numbers } from './numbers.js';
import { segmentMoments } from './segment-moments.js';

/** A segment's place in the table: how many values, their sum, the first one, the sum of the distances to it. */
const [COUNT, SUM, FIRST, AWAY, WIDTH] = [0, 1, 2, 3, 4];
/** And what takes the place of the last two: the mean, and 1 where values differ, 0 where they do not. */
const [MEAN, DIFFERS] = [FIRST, AWAY];

/** Beyond this mean distance to the first value, of its size, there is no doubt that values differ. */
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
  const centred = new Float64Array(values.length);
  for (let i = 0; i < centred.length; i++) {
    const at = segmentOf[i] * WIDTH;
    centred[i] = (values[i] - table[at + MEAN]) * table[at + DIFFERS] + 0; // no -0
  }
  return centred;
}

/** [segments · WIDTH], side by side, so that a row touches one place in memory. */
function sumsOf(values: Numbers, segmentOf: Int32Array, segmentCount: number): Float64Array {
  const table = new Float64Array(segmentCount * WIDTH);
  for (let i = values.length - 1; i >= 0; i--) table[segmentOf[i] * WIDTH + FIRST] = values[i];
  for (let i = 0; i < values.length; i++) {
    const at = segmentOf[i] * WIDTH;
    const value = values[i];
    table[at + COUNT]++;
    table[at + SUM] += value;
    table[at + AWAY] += Math.abs(value - table[at + FIRST]);
  }
  return table;
}

/** Puts means in the place of sums. @returns false where values are so near, or so large, that only their spread decides */
function areMeansDecided(table: Float64Array): boolean {
  for (let at = 0; at < table.length; at += WIDTH) {
    const [count, away] = [table[at + COUNT], table[at + AWAY] / table[at + COUNT]];
    const doubt = Math.max(SURELY * Math.max(1, Math.abs(table[at + FIRST])), 8 * LEAST_SPREAD * Math.sqrt(count));
    const differs = away > doubt && away < Infinity;
    if (!differs && away !== 0 && count > 0) return false;
    table[at + MEAN] = differs ? table[at + SUM] / count : 0;
    table[at + DIFFERS] = differs ? 1 : 0;
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
