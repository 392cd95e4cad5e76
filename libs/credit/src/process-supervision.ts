import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, ownerOf } from '#lib/numeric';
import { type Singleton } from './group-scores.js';
import { standardScores } from './standard-scores.js';

/**
 * Process supervision as in GRPO: the scores of all turns of a group are normalised together, and a turn gets what is
 * still to come.
 *
 *     z[t] = (r[t] − mean_g r) / (std_g r + ε)      over the turns of group g, std with ddof = 1
 *     A[t] = Σ_{u ≥ t} z[u]                         not discounted, to the end of the trajectory
 *
 * Exactly 0 where the turns of a group agree; a single turn in all of a group: see Singleton.
 *
 * @param score r [turns]
 * @returns z and A [turns]
 */
export function processSupervision(
  score: NumericValues,
  { turnOffsets, groupOf, groupCount }: Pick<TrajectoryBatch, 'turnOffsets' | 'groupOf' | 'groupCount'>,
  params: { readonly normalizeByStd: boolean; readonly epsilon: number; readonly singleton: Singleton },
): { normalized: Float64Array; advantage: Float64Array } {
  const groupOfTurn = ownerOf(turnOffsets).map((i) => groupOf[i]);
  const normalized = standardScores(score, groupOfTurn, groupCount, params);
  return { normalized, advantage: discountedSums(normalized, turnOffsets, 1) };
}
