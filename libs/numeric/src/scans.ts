import type { Numbers } from './numbers.js';
import { unsetDoubles } from './unset.js';

/**
 * Discounted sum from each position to the end of its row, over the positions with mask 1 only.
 *
 *     sum[k] = x[k] + γ · sum[next]      next: the row's next position with mask 1, sum = 0 after the last
 *
 * γ = 1: what is still to come; γ = 0: x itself. A position with mask 0 gets 0, its x is not read and a gap costs no
 * discount (older verl forgets the sum at a gap instead).
 *
 * @param values [positions]
 * @param offsets [rows + 1]
 * @param mask [positions] null: all 1
 * @returns [positions]
 */
export function discountedSums(
  values: Numbers,
  offsets: Int32Array,
  gamma: number,
  mask: Numbers | null = null,
): Float64Array {
  if (mask === null) return unmaskedSums(values, offsets, gamma);
  const sums = new Float64Array(values.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let run = 0;
    for (let k = offsets[i + 1] - 1; k >= offsets[i]; k--) {
      if (mask[k] === 0) continue;
      run = values[k] + gamma * run;
      sums[k] = run;
    }
  }
  return sums;
}

function unmaskedSums(values: Numbers, offsets: Int32Array, gamma: number): Float64Array {
  const isEach = offsets[0] === 0 && offsets[offsets.length - 1] === values.length;
  const sums = isEach ? unsetDoubles(values.length) : new Float64Array(values.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const first = offsets[i];
    let run = 0;
    for (let k = offsets[i + 1] - 1; k >= first; k--) {
      run = values[k] + gamma * run;
      sums[k] = run;
    }
  }
  return sums;
}

/**
 * Temporal-difference errors: what a step brought, against what was expected before it.
 *
 *     δ[k] = r[k] + γ · V[next] − V[k]      next: the row's next position with mask 1, V = 0 after the last
 *
 * γ = 0 leaves r − V. A position with mask 0 gets 0 and is not read. No bootstrap after the last position: a rollout
 * that was cut by a limit counts as ended.
 *
 * @param reward, value [positions]
 * @param offsets [rows + 1]
 * @param mask [positions] null: all 1
 * @returns [positions]
 */
export function temporalDifferences(
  reward: Numbers,
  value: Numbers,
  offsets: Int32Array,
  gamma: number,
  mask: Numbers | null = null,
): Float64Array {
  const errors = new Float64Array(reward.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let valueAfter = 0;
    for (let k = offsets[i + 1] - 1; k >= offsets[i]; k--) {
      if (mask?.[k] === 0) continue;
      errors[k] = reward[k] + gamma * valueAfter - value[k];
      valueAfter = value[k];
    }
  }
  return errors;
}
