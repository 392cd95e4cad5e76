import type { NumericValues } from '#lib/dataset';

/**
 * The implicit reward of a turn: how much likelier one model finds what was said than another.
 *
 *     s[t] = β · Σ over the generated tokens of t of (logprob − logprob under the other)      0 for a turn without any
 *
 * @param logprob, other [tokens]
 * @param mask [tokens] not given: all 1
 * @returns [turns]
 */
export function implicitReward(
  logprob: NumericValues,
  other: NumericValues,
  tokenOffsets: Int32Array,
  mask: NumericValues | undefined,
  beta: number,
): Float64Array {
  return Float64Array.from({ length: tokenOffsets.length - 1 }, (_, t) => {
    let sum = 0;
    for (let k = tokenOffsets[t]; k < tokenOffsets[t + 1]; k++) if (mask?.[k] !== 0) sum += logprob[k] - other[k];
    return beta * sum;
  });
}

/** −log σ(x), for any x. */
export function negativeLogSigmoid(x: number): number {
  return Math.max(-x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** σ(x) = 1 / (1 + e^−x), for any x. */
export function sigmoid(x: number): number {
  const small = Math.exp(-Math.abs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}
