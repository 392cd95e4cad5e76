import type { NumericValues } from '#lib/dataset';

/** Whether an accepted signal is there and said on every row: only then is it used. */
export function isWhole(values: NumericValues | undefined): values is NumericValues {
  return values !== undefined && !values.some((value) => Number.isNaN(value));
}
