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

/**
 * The precision of numbers that tell nothing by themselves, by what was to be logged: each is what that precision makes of
 * it. Of 20 rollouts with 5 successes bfloat16 makes 1.6875 and −0.5625, and of nothing else these.
 *
 * @param values, recomputed [rows] finite
 */
export function roundedTo(values: Float64Array, recomputed: Float64Array): Precision | null {
  if (!tellsNothing(values)) return null;
  if (values.every((value, i) => value === bfloat16(recomputed[i]))) return 'bf16';
  return values.every((value, i) => value === Math.f16round(recomputed[i])) ? 'fp16' : null;
}

/** To the nearest of them, of two the even one. */
function bfloat16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) & 0xffff0000) >>> 0;
  return new Float32Array(bits.buffer)[0];
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

/** How far logged numbers may be from the right ones. */
export interface Tolerance {
  readonly precision: Precision;
  /** [rows] what the trainer's arithmetic may have lost besides; null: nothing */
  readonly loss: Float64Array | null;
}

/** Whether a logged number is the recomputed one, as far as its precision can tell. Without a row nothing was lost. */
export type Near = (logged: number, recomputed: number, row?: number) => boolean;

/** @param recomputed [rows] whose greatest magnitude is the scale of small numbers */
export function nearness({ precision, loss }: Tolerance, recomputed: Float64Array): Near {
  const { atol, rtol } = TOLERANCES[precision];
  let greatest = 0;
  for (const value of recomputed) greatest = Math.max(greatest, Math.abs(value));
  return (logged, value, row = -1) =>
    Math.abs(logged - value) <= atol + rtol * Math.max(Math.abs(value), LEAST_SCALE * greatest) + (loss?.[row] ?? 0);
}

/** The relative part of the tolerance: a factor nearer to 1 than a few of it is no factor. */
export function relativeTolerance({ precision }: Tolerance): number {
  return TOLERANCES[precision].rtol;
}
