import { allEqual, type Numbers } from './numbers.js';

/**
 * Standardises all positions with mask 1 together.
 *
 *     y = (x − mean) / sqrt(var + ε)      var with ddof = 1, ε inside the root
 *
 * Positions with mask 0 get 0. All equal: exactly 0 (verl leaves about 1e-5, from an epsilon it adds to the count).
 * Fewer than two positions have no spread: they stay as they are, and the caller says so. A spread that overflows: NaN.
 *
 * @param values [positions]
 * @param mask [positions] null: all 1
 * @returns [positions], and how many had mask 1
 */
export function whiten(
  values: Numbers,
  mask: Numbers | null,
  epsilon: number,
): { values: Float64Array; count: number } {
  const whitened = new Float64Array(values.length);
  let count = 0;
  let sum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (let k = 0; k < values.length; k++) {
    if (mask?.[k] === 0) continue;
    count++;
    sum += values[k];
    if (values[k] < min) min = values[k];
    if (values[k] > max) max = values[k];
  }
  if (count >= 2 && allEqual(min, max)) return { values: whitened, count };

  const mean = sum / count;
  let squares = 0;
  for (let k = 0; k < values.length; k++) if (mask?.[k] !== 0) squares += (values[k] - mean) ** 2;
  const spread = Math.sqrt(squares / (count - 1) + epsilon);
  const scale = spread === Infinity ? NaN : spread;
  for (let k = 0; k < values.length; k++) {
    if (mask?.[k] !== 0) whitened[k] = count < 2 ? values[k] : (values[k] - mean) / scale;
  }
  return { values: whitened, count };
}
