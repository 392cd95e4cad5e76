import type { Numbers } from './numbers.js';

/** How the scores of a row's children become one. */
export const AGGREGATES = ['min', 'product', 'last', 'mean', 'softmin'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

/**
 * Weights that fall on the lowest scores of a row.
 *
 *     w[k] = exp(−x[k] / T) / Σ exp(−x / T) over the row      T → 0: all on the lowest; T → ∞: all alike
 *
 * @param values [children]
 * @param offsets [rows + 1]
 * @param temperature T, above 0
 * @returns [children]
 */
export function softminWeights(values: Numbers, offsets: Int32Array, temperature: number): Float64Array {
  const weights = new Float64Array(values.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let least = Infinity;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) if (values[k] < least) least = values[k];
    let total = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) total += weights[k] = Math.exp((least - values[k]) / temperature);
    for (let k = offsets[i]; k < offsets[i + 1]; k++) weights[k] /= total;
  }
  return weights;
}

/**
 * One score per row from its children's: the lowest, the product, the last, the mean, or the mean under softminWeights.
 *
 * @param values [children]
 * @param offsets [rows + 1]
 * @param empty score of a row without children
 * @param temperature of softmin
 * @returns [rows]
 */
export function aggregateRows(
  values: Numbers,
  offsets: Int32Array,
  aggregate: Aggregate,
  { empty, temperature }: { readonly empty: number; readonly temperature: number },
): Float64Array {
  const weights = aggregate === 'softmin' ? softminWeights(values, offsets, temperature) : null;
  return new Float64Array(offsets.length - 1).map((_, i) => {
    const from = offsets[i];
    const to = offsets[i + 1];
    if (from === to) return empty;
    if (aggregate === 'last') return values[to - 1];
    let least = Infinity;
    let product = 1;
    let sum = 0;
    let weighted = 0;
    for (let k = from; k < to; k++) {
      if (values[k] < least) least = values[k];
      product *= values[k];
      sum += values[k];
      if (weights) weighted += weights[k] * values[k];
    }
    return { min: least, product, mean: sum / (to - from), softmin: weighted }[aggregate];
  });
}
