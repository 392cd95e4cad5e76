/** A column of numbers: float64 for what is computed, float32 for tokens as they were logged. */
export type Numbers = Float64Array | Float32Array;

/** Values that ought to be equal may differ by this share of their size: 1 ulp divided by 1e-6 is a visible advantage. */
const NOISE = 1e-12;

/** A spread below this is rounding, not difference. */
export const LEAST_SPREAD = 1e-12;

/**
 * Whether values between `min` and `max` count as all equal: max - min <= 1e-12 · max(1, |x|).
 * An empty set (min = Infinity, max = -Infinity) does.
 */
export function allEqual(min: number, max: number): boolean {
  return !(max - min > NOISE * Math.max(1, Math.abs(min), Math.abs(max)));
}

/** `value`, or the bound that it passes. */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
