/** In what precision a trainer logged its numbers; not known from fewer. */
export type Precision = 'bf16' | 'fp16' | 'fp32';

/** What two numbers may differ by: |L − A| ≤ atol + rtol · max(|A|, 0.05 · max|A|). */
const TOLERANCES: Readonly<Record<Precision, { readonly atol: number; readonly rtol: number }>> = {
  fp32: { atol: 1e-6, rtol: 1e-5 },
  fp16: { atol: 1e-4, rtol: 1e-3 },
  bf16: { atol: 1e-3, rtol: 8e-3 },
};
const LEAST_SCALE = 0.05;

/**
 * The coarsest precision that holds all values as they are. Values that are all multiples of 1/16 survive any of them
 * and tell nothing: fp32.
 *
 * @param values [rows] finite
 */
export function precisionOf(values: Float64Array): Precision {
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  if (bits.every((bit) => (bit & 0xffff) === 0) && isFloat32(values)) return tellsNothing(values) ? 'fp32' : 'bf16';
  return values.every(isHalf) && !tellsNothing(values) ? 'fp16' : 'fp32';
}

const tellsNothing = (values: Float64Array) => values.every((value) => Number.isInteger(value * 16));
const isFloat32 = (values: Float64Array) => values.every((value) => Math.fround(value) === value);

/** Whether float16 (1 sign, 5 exponent, 10 fraction bits) holds a number exactly. */
function isHalf(value: number): boolean {
  if (value === 0) return true;
  const magnitude = Math.abs(value);
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), -14);
  return exponent <= 15 && Number.isInteger(magnitude * 2 ** (10 - exponent));
}

/** Whether a logged number is the recomputed one, as far as its precision can tell. */
export type Near = (logged: number, recomputed: number) => boolean;

/** @param recomputed [rows] whose greatest magnitude is the scale of small numbers */
export function nearness(precision: Precision, recomputed: Float64Array): Near {
  const { atol, rtol } = TOLERANCES[precision];
  let greatest = 0;
  for (const value of recomputed) greatest = Math.max(greatest, Math.abs(value));
  return (logged, value) => Math.abs(logged - value) <= atol + rtol * Math.max(Math.abs(value), LEAST_SCALE * greatest);
}

/** The relative part of the tolerance: a factor nearer to 1 than a few of it is no factor. */
export function relativeTolerance(precision: Precision): number {
  return TOLERANCES[precision].rtol;
}
