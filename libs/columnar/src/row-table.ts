import type { StreamColumn, StreamRows, StreamValues } from './arrow-stream.js';
import { internTexts } from './intern-texts.js';

/** A row by column name; what is null or not there was not said. Integers are 0 or more. */
export type TableRow = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Rows as a stream has them, for tables of some thousand rows: flags are 1 and 0. */
export function rowTable(columns: readonly StreamColumn[], rows: readonly TableRow[]): StreamRows {
  const values = columns.map(({ name, type }): [string, StreamValues] => {
    const column = rows.map((row) => row[name] ?? null);
    if (type === 'text') return [name, internTexts(column.map((value) => value?.toString() ?? null))];
    if (type === 'integer') return [name, Int32Array.from(column, (value) => (value === null ? -1 : Number(value)))]; // prettier-ignore
    return [name, Float64Array.from(column, (value) => (value === null ? NaN : Number(value)))];
  });
  return { rows: rows.length, values: new Map(values) };
}
