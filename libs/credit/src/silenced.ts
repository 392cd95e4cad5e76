import type { Credit } from './estimator.js';

/**
 * The values of a credit without those of rows on which the method says nothing.
 *
 * @param values [rows]
 * @returns values [rows] NaN on such rows, and how many they are
 */
export function silenced(values: Float64Array, why: string, isSilent: (row: number) => boolean) {
  let rows = 0;
  const said = values.map((value, row) => {
    if (!isSilent(row)) return value;
    rows++;
    return NaN;
  });
  return { values: said, silent: { rows, why } } satisfies Pick<Credit, 'values' | 'silent'>;
}
