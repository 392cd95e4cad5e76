import { ownerOf } from '#lib/numeric';

/**
 * Contributions that add up: what their sum lacks to the outcome is given to the turns in equal parts.
 *
 *     r[t] = c[t] + (R − Σ c) / T
 *
 * @param contribution [turns] @param sum, outcome [trajectories]
 */
export function spreadResidual(
  contribution: Float64Array,
  sum: Float64Array,
  outcome: Float64Array,
  turnOffsets: Int32Array,
): Float64Array {
  const trajectoryOf = ownerOf(turnOffsets);
  return contribution.map((value, t) => {
    const i = trajectoryOf[t];
    return value + (outcome[i] - sum[i]) / (turnOffsets[i + 1] - turnOffsets[i]);
  });
}
