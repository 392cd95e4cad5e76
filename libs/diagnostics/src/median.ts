import { scratchDoubles } from '#lib/numeric';

const copyOf = scratchDoubles();

/** @param values at least one */
export function median(values: readonly number[]): number {
  const copy = copyOf(values.length);
  for (let i = 0; i < values.length; i++) copy[i] = values[i];
  return medianOf(copy, 0, values.length);
}

/**
 * The median of the values in [from, to), at least one.
 *
 * @param values put in ascending order there
 */
export function medianOf(values: Float64Array, from: number, to: number): number {
  ascend(values, from, to);
  const half = (from + to) >> 1;
  return (to - from) % 2 === 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/** As many values as a group has are sooner put in place one by one than sort is called. */
const FEW = 32;

function ascend(values: Float64Array, from: number, to: number): void {
  if (to - from > FEW) {
    values.subarray(from, to).sort();
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const value = values[i];
    let place = i;
    for (; place > from && values[place - 1] > value; place--) values[place] = values[place - 1];
    values[place] = value;
  }
}
