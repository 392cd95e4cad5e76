import {
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

/** One column: what it sorts by, and how a row shows it. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** what the number means, for who hovers over its title */
  readonly hint?: string;
  readonly align?: 'end';
  /** not said: the column does not sort */
  readonly sortBy?: (row: Row) => string | number | null;
  readonly cell: (row: Row) => ReactNode;
}

/** `-successRate` sorts by that column, largest first. It stands in the address. */
export type Sort = string | undefined;

interface DataTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  readonly isMarked?: (row: Row) => boolean;
}

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, rows, columns, keyOf, sort, onSort, isMarked } = props;
  const sorting = sortingOf(sort);
  const table = useTable({
    features,
    data: rows,
    columns: columns.map((column) => definitionOf<Row>(column, onSort !== undefined)),
    getRowId: keyOf,
    state: { sorting },
    onSortingChange: (next) => onSort?.(sortOf(typeof next === 'function' ? next(sorting) : next)),
  });
  const byId = new Map(columns.map((column) => [column.id, column]));
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
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
        <tbody>
          {table.getRowModel().rows.map(({ id, original }) => (
            <tr key={id} className={isMarked?.(original) ? 'marked' : undefined}>
              {columns.map((column) => (
                <td key={column.id} className={column.align}>
                  {column.cell(original)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function definitionOf<Row extends object>({ id, sortBy }: Column<Row>, sorts: boolean) {
  const isSortable = sorts && sortBy !== undefined;
  const definition: ColumnDef<typeof features, Row> = {
    id,
    accessorFn: (row) => sortBy?.(row) ?? undefined,
    enableSorting: isSortable,
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
