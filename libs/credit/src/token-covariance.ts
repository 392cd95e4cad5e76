import { allEqual, type Numbers } from '#lib/numeric';

/**
 * How each token's advantage and log-probability lie about their means together.
 *
 *     cov[k] = (A[k] − Σ A / (N + ε)) (p[k] − Σ p / (N + ε))      over the rows
 *
 * Exactly 0 where all advantages are equal, where one is the mean up to rounding, and on rows that are not named.
 *
 * @param advantage, logprob [tokens]
 * @param rows the generated tokens
 * @param epsilon added to their number N
 * @returns [tokens]
 */
export function tokenCovariances(
  advantage: Float64Array,
  logprob: Numbers,
  rows: Int32Array,
  epsilon: number,
): Float64Array {
  const covariances = new Float64Array(advantage.length);
  let sumA = 0;
  let sumP = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const k of rows) {
    sumA += advantage[k];
    sumP += logprob[k];
    min = Math.min(min, advantage[k]);
    max = Math.max(max, advantage[k]);
  }
  if (allEqual(min, max)) return covariances;
  const meanA = sumA / (rows.length + epsilon);
  const meanP = sumP / (rows.length + epsilon);
  for (const k of rows) {
    const isMean = allEqual(Math.min(advantage[k], meanA), Math.max(advantage[k], meanA));
    covariances[k] = isMean ? 0 : (advantage[k] - meanA) * (logprob[k] - meanP);
  }
  return covariances;
}
