import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, lastOfRows, temporalDifferences } from '#lib/numeric';

export interface Discounts {
  /** per position */
  readonly gamma: number;
  /** 0: one-step error, 1: return less value */
  readonly lambda: number;
}

/**
 * Generalised advantage estimation, over the positions with mask 1 only.
 *
 *     δ[k] = r[k] + γ · V[next] − V[k]      V = 0 after the last position of the row
 *     A[k] = δ[k] + γ λ · A[next]
 *
 * The return is A + V, taken before whitening. λ = 0: δ; λ = 1: discounted return less V. A position with mask 0
 * gets 0, its reward is lost and a gap costs no discount. A trajectory cut by a limit counts as ended.
 *
 * @param reward, value [positions]
 * @param offsets [rows + 1] into positions
 * @param mask [positions] null: all 1
 * @returns advantage and return [positions]
 */
export function generalisedAdvantage(
  reward: NumericValues,
  value: NumericValues,
  offsets: Int32Array,
  mask: NumericValues | null,
  { gamma, lambda }: Discounts,
) {
  const errors = temporalDifferences(reward, value, offsets, gamma, mask);
  const advantage = discountedSums(errors, offsets, gamma * lambda, mask);
  const returns = advantage.map((a, k) => (mask?.[k] === 0 ? 0 : a + value[k]));
  return { advantage, returns };
}

/**
 * Generalised advantage estimation with one position per turn: its last generated token, where reward and value are read.
 *
 *     δ[t] = r[end t] + γ · V[end t + 1] − V[end t]      end t: the last token with mask 1 of turn t
 *     A[t] = δ[t] + γ λ · A[t + 1]
 *
 * Rewards elsewhere in the turn are not read. A turn without a generated token is passed over and gets 0.
 *
 * @param reward, value, mask [tokens] mask null: all 1
 * @returns [turns] advantage, return, the row of the end (-1: none) and whether there is one (1 or 0)
 */
export function turnEndAdvantage(
  reward: NumericValues,
  value: NumericValues,
  mask: NumericValues | null,
  { turnOffsets, tokenOffsets }: Pick<TrajectoryBatch, 'turnOffsets' | 'tokenOffsets'>,
  discounts: Discounts,
) {
  const ends = lastOfRows(tokenOffsets, mask);
  const atEnd = (values: NumericValues) => Float64Array.from(ends, (end) => (end < 0 ? 0 : values[end]));
  const hasEnd = Float64Array.from(ends, (end) => (end < 0 ? 0 : 1));
  return { ...generalisedAdvantage(atEnd(reward), atEnd(value), turnOffsets, hasEnd, discounts), ends, hasEnd };
}
