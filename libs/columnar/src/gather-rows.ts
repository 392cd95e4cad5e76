import type { Column } from '#lib/credit';

export type Values = Pick<Column, 'values' | 'offsets'>;

/** The values of these rows, in this order; a row may be asked for again. */
export function gatherRows({ values, offsets }: Values, rows: Int32Array): Values {
  if (!offsets) return { values: pick(values, rows) };
  const ends = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => (ends[i + 1] = ends[i] + offsets[row + 1] - offsets[row]));
  const picked = new Int32Array(ends[rows.length]);
  rows.forEach((row, i) => {
    for (let at = ends[i]; at < ends[i + 1]; at++) picked[at] = offsets[row] + at - ends[i];
  });
  return { values: pick(values, picked), offsets: ends };
}

function pick(values: Column['values'], rows: Int32Array): Column['values'] {
  if (values instanceof Float64Array) return Float64Array.from(rows, (row) => values[row]);
  return Array.from(rows, (row) => values[row]);
}
