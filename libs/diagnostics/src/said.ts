import type { NumericValues } from '#lib/dataset';

/** Whether any row says something: NaN says nothing. */
export function isAnySaid(values: NumericValues): boolean {
  for (let k = 0; k < values.length; k++) if (!Number.isNaN(values[k])) return true;
  return false;
}
