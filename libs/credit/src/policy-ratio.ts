import type { NumericValues } from '#lib/dataset';
import { clamp } from '#lib/numeric';

/**
 * How much likelier each generated token is under the policy during the update than under the one it started from.
 *
 *     ρ[k] = e^(updated[k] − old[k])      0 where the mask is: those are not read
 *
 * 1 at the first pass over a batch.
 *
 * @param updated, old [tokens] log-probabilities
 * @param mask [tokens] not given: all 1
 * @returns [tokens]
 */
export function policyRatios(
  updated: NumericValues,
  old: NumericValues,
  mask: NumericValues | undefined,
): Float64Array {
  const ratios = new Float64Array(updated.length);
  for (let k = 0; k < ratios.length; k++) if (mask?.[k] !== 0) ratios[k] = Math.exp(updated[k] - old[k]);
  return ratios;
}

/** −A · clip(ρ, 1 − low, 1 + high): the second half of PPO's loss. */
export function clippedHalf(advantage: number, ratio: number, low: number, high: number): number {
  return -advantage * clamp(ratio, 1 - low, 1 + high);
}

/** PPO's loss of a token: the worse of the plain and the clipped half. */
export function clippedLoss(advantage: number, ratio: number, low: number, high: number): number {
  return Math.max(-advantage * ratio, clippedHalf(advantage, ratio, low, high));
}
