import {
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import { useMemo, useState, type CSSProperties, type ReactNode } from 'react';
import { LongRows } from './LongRows.js';
import { TableRow } from './TableRow.js';

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

/** From so many rows on only those near the screen exist. */
export const MANY_ROWS = 100;
/** Room of the column that takes what the others leave, where the screen is narrow. */
const LEAST_WIDTH = 180;
const COMING_ROWS = 12;

/** One column: what it sorts by, and how a row shows it. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** what the number means, for who hovers over its title */
  readonly hint?: string;
  readonly align?: 'end';
  /** in pixels, of a table that may be long: its columns must not move as rows come and go. Not said: what is left */
  readonly width?: number;
  /** not said: the column does not sort; 'asked': whoever gives the rows sorts them */
  readonly sortBy?: ((row: Row) => string | number | null) | 'asked';
  /** what the first click sorts by, of a column that is 'asked'; not said: the least first */
  readonly largestFirst?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

/** `-successRate` sorts by that column, largest first. It stands in the address. */
export type Sort = string | undefined;

/** Rows that come as somebody scrolls. */
export interface EndlessRows {
  /** which list it is: another one begins at its own place; null: none has come yet */
  readonly of: string | null;
  /** rows there are in all; undefined: nobody knows */
  readonly count: number | undefined;
  readonly hasMore: boolean;
  readonly isStale: boolean;
  /** told which rows are on screen */
  readonly look: (first: number, last: number) => void;
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  readonly isMarked?: (row: Row) => boolean;
  readonly endless?: EndlessRows;
  /** it scrolls in a box of its own, however many rows there are */
  readonly isBoxed?: boolean;
  /** index of the first row on screen when the list is shown, and who is told of another one */
  readonly row?: number | undefined;
  readonly onRow?: (row: number) => void;
}

/** A table; of a long one only the rows near the screen exist, in a box that scrolls below its header. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, rows, columns, keyOf, sort, onSort, isMarked, endless, isBoxed = false } = props;
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const sorting = sortingOf(sort);
  const isSorting = onSort !== undefined;
  const definitions = useMemo(
    () => columns.map((column) => definitionOf<Row>(column, isSorting)),
    [columns, isSorting],
  );
  const table = useTable({
    features,
    data: rows,
    columns: definitions,
    getRowId: keyOf,
    manualSorting: columns.some(({ sortBy }) => sortBy === 'asked'),
    state: { sorting },
    onSortingChange: (next) => onSort?.(sortOf(typeof next === 'function' ? next(sorting) : next)),
  });
  const byId = new Map(columns.map((column) => [column.id, column]));
  const sorted = table.getRowModel().rows;
  const shown = useMemo(() => sorted.map(({ original }) => original), [sorted]);
  const isLong = isBoxed || endless !== undefined || rows.length > MANY_ROWS;
  const isComing = endless?.of === null;
  return (
    <div
      ref={setBox}
      className={isLong ? 'table-box table-long' : 'table-box'}
      tabIndex={0}
      role="region"
      aria-label={label}
      aria-busy={endless && (endless.isStale || isComing)}
    >
      <table
        style={isLong ? widthOf(columns) : undefined}
        aria-rowcount={isLong ? rowCountOf(rows.length, endless) : undefined}
      >
        {isLong && (
          <colgroup>
            {columns.map(({ id, width }) => (
              <col key={id} style={{ width }} />
            ))}
          </colgroup>
        )}
        <thead>
          <tr aria-rowindex={isLong ? 1 : undefined}>
            {table.getFlatHeaders().map(({ id, column }) => {
              const { title, hint, align } = byId.get(id)!;
              const sorted = column.getIsSorted();
              const direction = sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : 'none';
              return (
                <th key={id} scope="col" className={align} title={hint} {...(sorted && { 'aria-sort': direction })}>
                  {column.getCanSort() ? (
                    <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
                      {title}
                      <span aria-hidden="true">{sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : ''}</span>
                    </button>
                  ) : (
                    title
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        {isLong ? (
          <LongRows<Row>
            box={box}
            rows={shown}
            columns={columns}
            keyOf={keyOf}
            isMarked={isMarked}
            endless={endless}
            row={props.row}
            onRow={props.onRow}
          />
        ) : (
          <tbody>
            {shown.map((row) => (
              <TableRow<Row> key={keyOf(row)} row={row} columns={columns} isMarked={isMarked?.(row) === true} />
            ))}
          </tbody>
        )}
        {isLong && (isComing || endless?.hasMore === true) && (
          <tfoot key={isComing ? 'all' : 'more'} aria-hidden="true">
            {Array.from({ length: isComing ? COMING_ROWS : 1 }, (_, i) => (
              <tr key={i}>
                <td colSpan={columns.length}>
                  <div className={isComing ? 'skeleton' : 'coming'} />
                </td>
              </tr>
            ))}
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** With the header; −1: nobody knows. */
function rowCountOf(rows: number, endless: EndlessRows | undefined): number {
  if (endless?.hasMore && endless.count === undefined) return -1;
  return (endless?.count ?? rows) + 1;
}

function widthOf<Row>(columns: readonly Column<Row>[]): CSSProperties {
  const minWidth = columns.reduce((sum, { width = LEAST_WIDTH }) => sum + width, 0);
  return { tableLayout: 'fixed', minWidth };
}

function definitionOf<Row extends object>({ id, sortBy, largestFirst }: Column<Row>, sorts: boolean) {
  const isSortable = sorts && sortBy !== undefined;
  const definition: ColumnDef<typeof features, Row> = {
    id,
    accessorFn: (row) => (typeof sortBy === 'function' ? (sortBy(row) ?? undefined) : undefined),
    enableSorting: isSortable,
    ...(sortBy === 'asked' && { sortDescFirst: largestFirst === true }),
    sortUndefined: 'last',
    sortFn: 'basic',
  };
  return definition;
}

function sortingOf(sort: Sort): SortingState {
  return sort ? [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }] : [];
}

function sortOf([first]: SortingState): Sort {
  return first && `${first.desc ? '-' : ''}${first.id}`;
}
