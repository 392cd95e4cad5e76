import { printable } from './printable.js';

export type Alignment = 'left' | 'right';

/** A heading over several columns of the head. */
export interface Span {
  readonly over: number;
  readonly text: string;
}

type HeadRow = readonly (string | Span)[];

/**
 * Rows as aligned columns, two blanks apart, no line ending in a blank. The head is separated from the body by a rule.
 *
 * @param head rows above the rule; empty: no head
 */
export function formatTable(
  head: readonly HeadRow[],
  body: readonly (readonly string[])[],
  alignment: readonly Alignment[],
): string {
  const lines = body.map((row) => row.map((cell) => printable(cell).replace(/\s/g, ' ')));
  const widths = alignment.map((_, column) => {
    const cells = [...head.map((row) => cellAt(row, column)), ...lines.map((row) => row[column] ?? '')];
    return Math.max(0, ...cells.map(widthOf));
  });
  const line = (cells: readonly string[]) => cells.join('  ').trimEnd();
  const rows = lines.map((row) => line(widths.map((width, i) => padded(row[i] ?? '', width, alignment[i]))));
  if (head.length === 0) return rows.join('\n');
  const heads = head.map((row) => line(headCells(row, widths, alignment)));
  return [...heads, line(widths.map((width) => '─'.repeat(width))), ...rows].join('\n');
}

/** The text that decides the width of a column; a span decides none. */
function cellAt(row: HeadRow, column: number): string {
  let at = 0;
  for (const cell of row) {
    if (at === column) return typeof cell === 'string' ? cell : '';
    at += typeof cell === 'string' ? 1 : cell.over;
  }
  return '';
}

function headCells(row: HeadRow, widths: readonly number[], alignment: readonly Alignment[]): string[] {
  let column = 0;
  return row.map((cell) => {
    if (typeof cell === 'string') return padded(cell, widths[column], alignment[column++]);
    const covered = widths.slice(column, (column += cell.over));
    const width = covered.reduce((sum, each) => sum + each, 2 * (covered.length - 1));
    const left = Math.max(0, Math.floor((width - widthOf(cell.text) - 2) / 2));
    const right = Math.max(0, width - widthOf(cell.text) - 2 - left);
    return `${'─'.repeat(left)} ${cell.text} ${'─'.repeat(right)}`;
  });
}

/** Names and values, one pair per line. */
export function formatFields(fields: readonly (readonly [name: string, value: string])[]): string {
  return formatTable([], fields, ['left', 'left']);
}

/** The text on one line of at most `width` columns; what does not fit ends in an ellipsis. */
export function onOneLine(text: string, width: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const letters = [...line];
  return letters.length <= width
    ? line
    : `${letters
        .slice(0, Math.max(0, width - 1))
        .join('')
        .trimEnd()}…`;
}

function padded(text: string, width: number, alignment: Alignment): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return alignment === 'right' ? blanks + text : text + blanks;
}

/** Code points; wide scripts are not worth a table of their own here. */
const widthOf = (text: string) => [...text].length;
