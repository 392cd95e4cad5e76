import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { allEqual, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { centred, scaled, type Singleton } from './group-scores.js';

/** Params of estimators that end in a comparison inside the group. */
export const GROUP_PARAMS = {
  normalizeByStd: z.boolean().default(true).describe("divide by the group's spread; false only centres"),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
};

interface GroupParams {
  readonly normalizeByStd: boolean;
  readonly epsilon: number;
  readonly singleton: Singleton;
}

/**
 * A shaped reward against its group, as GRPO ends in many methods.
 *
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      i in group g, std with ddof = 1; without normalizeByStd no division
 *
 * Exactly 0 where the group agrees, and of a reward that is the mean up to rounding: methods split tokens by the sign of A.
 * A group of one: see Singleton.
 *
 * @param reward [trajectories]
 * @returns [trajectories]
 */
export function groupAdvantage(
  reward: NumericValues,
  { groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  { normalizeByStd, epsilon, singleton }: GroupParams,
): Float64Array {
  const moments = segmentMoments(reward, null, groupOf, groupCount);
  const centre = withoutRounding(centred(reward, groupOf, moments, singleton), reward);
  return normalizeByStd ? scaled(centre, groupOf, moments, epsilon) : centre;
}

/**
 * Centred values, exactly 0 where a value is the mean up to rounding.
 *
 * @param centre, values [rows]
 * @returns [rows]
 */
export function withoutRounding(centre: Float64Array, values: NumericValues): Float64Array {
  return centre.map((difference, i) => {
    const mean = values[i] - difference;
    return allEqual(Math.min(values[i], mean), Math.max(values[i], mean)) ? 0 : difference;
  });
}
