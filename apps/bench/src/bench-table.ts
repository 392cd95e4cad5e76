import type { BenchRow } from './bench-row.js';

/** All rows as one aligned text, names to the left, numbers to the right. */
export function benchTable(rows: readonly BenchRow[]): string {
  const cells = [
    ['', 'value', 'unit', 'x', 'yardstick'],
    ...rows.map(({ name, value, unit, yardstick, ratio }) => [
      name,
      value.toLocaleString('en'),
      unit,
      ratio.toPrecision(3),
      name === yardstick ? '(is the yardstick)' : yardstick,
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const pad = (text: string, column: number) =>
    column === 1 || column === 3 ? text.padStart(widths[column]) : text.padEnd(widths[column]);
  return cells.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
