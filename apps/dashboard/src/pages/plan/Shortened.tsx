import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { count } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';

const FEW = 10;

interface ShortenedProps<Row> {
  /** names it in the address */
  readonly id: string;
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly isMarked?: (row: Row) => boolean;
  /** stands instead where there is no row */
  readonly empty?: ReactNode;
}

/** The first rows of a list, the others when somebody asks for them. Which lists are long stands in the address. */
export function Shortened<Row extends object>({ id, rows, empty, ...table }: ShortenedProps<Row>) {
  const { long } = useSearch({ from: '/runs/$run/plan' });
  const open = long?.split(',') ?? [];
  const isLong = open.includes(id);
  const shown = useMemo(() => (isLong ? rows : rows.slice(0, FEW)), [rows, isLong]);
  const next = isLong ? open.filter((one) => one !== id) : [...open, id];
  if (rows.length === 0) return empty;
  return (
    <>
      <DataTable<Row> {...table} rows={shown} />
      {rows.length > FEW && (
        <div className="pager">
          <Link
            className="button"
            from="/runs/$run/plan"
            to="."
            search={(old) => ({ ...old, long: next.join(',') })}
            replace
            resetScroll={false}
          >
            {isLong ? `Show ${FEW}` : `Show all ${count(rows.length)}`}
          </Link>
        </div>
      )}
    </>
  );
}
