import { memo, type ReactNode } from 'react';
import type { Column } from './DataTable.js';

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isMarked: boolean;
  /** its place, of a table of which only some rows exist */
  readonly index?: number;
  readonly measure?: (row: HTMLTableRowElement | null) => void;
}

/** Drawn again when it has changed, not when somebody scrolls. */
export const TableRow = memo(function TableRow<Row>({ row, columns, isMarked, index, measure }: TableRowProps<Row>) {
  return (
    <tr
      ref={measure}
      className={isMarked ? 'marked' : undefined}
      data-index={index}
      // the header is the first row
      aria-rowindex={index === undefined ? undefined : index + 2}
    >
      {columns.map((column) => (
        <td key={column.id} className={column.align}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
