import { ZERO_TOLERANCE } from './sums.js';

/** So many are sorted here, in place; more by the engine, whose sort costs a call and an array. */
const FEW = 48;
const sorted = new Float64Array(FEW);

/** How unevenly one trajectory's credit is spread over its turns. */
export interface Concentration {
  /** 0: all turns alike, towards 1: one turn has it all */
  readonly gini: number;
  /** between 1 and the number of turns */
  readonly effectiveTurns: number;
  /** the first turn, among those that say something, with the largest |A| */
  readonly topTurn: number;
  readonly topShare: number;
  readonly lastShare: number;
}

/**
 * Concentration of the |A| of one trajectory; null where all are zero.
 *
 *     gini           = Σ_ab ||A_a| − |A_b|| / (2 T Σ|A|)
 *     effectiveTurns = (Σ|A|)² / Σ A²
 *     topShare, lastShare: the largest and the last |A| over Σ|A|
 *
 * @param magnitudes |A| of the turns that say something [at least turns]
 */
export function concentration(magnitudes: Float64Array, turns = magnitudes.length): Concentration | null {
  let sum = 0;
  let squares = 0;
  let topTurn = 0;
  for (let t = 0; t < turns; t++) {
    sum += magnitudes[t];
    squares += magnitudes[t] * magnitudes[t];
    if (magnitudes[t] > magnitudes[topTurn]) topTurn = t;
  }
  if (!(sum > ZERO_TOLERANCE)) return null;

  // Sorted ascending, Σ_ab |a − b| = 2 Σ_k (T + 1 − 2k) (a_{T+1−k} − a_k) with k from 1 to T / 2: nothing below 0 is added.
  const ascending = turns <= FEW ? fewSorted(magnitudes, turns) : magnitudes.slice(0, turns).sort();
  let spread = 0;
  for (let [k, last] = [0, turns - 1]; k < last; k++, last--) spread += (last - k) * (ascending[last] - ascending[k]);
  return {
    gini: spread / (turns * sum),
    effectiveTurns: (sum * sum) / squares,
    topTurn,
    topShare: magnitudes[topTurn] / sum,
    lastShare: magnitudes[turns - 1] / sum,
  };
}

/** By insertion. @returns an array that the next call writes to */
function fewSorted(magnitudes: Float64Array, turns: number): Float64Array {
  for (let t = 0; t < turns; t++) {
    const value = magnitudes[t];
    let at = t;
    for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  return sorted;
}
