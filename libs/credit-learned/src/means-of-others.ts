import { ownerOf, rowLengths, rowMeans } from '#lib/numeric';
import type { Fold } from './folds.js';

/**
 * What a model that knows nothing says: the mean of a number over what each fold was trained on.
 *
 * @param numbers [trajectories] @param weights [trajectories] how often each counts
 * @returns [trajectories] NaN on those of no fold
 */
export function meansOfOthers(
  numbers: ArrayLike<number>,
  weights: ArrayLike<number>,
  folds: readonly Fold[],
): Float64Array {
  const means = new Float64Array(numbers.length).fill(NaN);
  for (const { training, validation, heldOut } of folds) {
    let [sum, weight] = [0, 0];
    for (const i of [...training, ...validation]) {
      sum += numbers[i] * weights[i];
      weight += weights[i];
    }
    for (const i of heldOut) means[i] = sum / weight;
  }
  return means;
}

/** The same of numbers that turns have, on every turn. @param numbers [turns] @returns [turns] */
export function meanOfOtherTurns(numbers: Float64Array, turnOffsets: Int32Array, folds: readonly Fold[]): Float64Array {
  const means = meansOfOthers(rowMeans(numbers, turnOffsets), rowLengths(turnOffsets), folds);
  return Float64Array.from(ownerOf(turnOffsets), (i) => means[i]);
}
