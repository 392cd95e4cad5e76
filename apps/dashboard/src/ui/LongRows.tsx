import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, useEffect, useRef, useState, type FocusEvent } from 'react';
import { MANY_ROWS, type Column, type EndlessRows } from './DataTable.js';
import { TableRow } from './TableRow.js';

/** Of a row with one line of text. */
const ROW_HEIGHT = 38;
const OVERSCAN = 12;

interface LongRowsProps<Row> {
  /** what scrolls; null: it is not there yet */
  readonly box: HTMLDivElement | null;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly isMarked: ((row: Row) => boolean) | undefined;
  readonly endless: EndlessRows | undefined;
  readonly row: number | undefined;
  readonly onRow: ((row: number) => void) | undefined;
}

/** The rows near those on screen, and the one that has the focus; room stands for the others. */
export function LongRows<Row extends object>(props: LongRowsProps<Row>) {
  const { box, rows, columns, keyOf, isMarked, endless, row, onRow } = props;
  const [focused, setFocused] = useState<number | null>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => keyOf(rows[index]),
    overscan: rows.length <= MANY_ROWS ? MANY_ROWS : OVERSCAN,
    rangeExtractor: (range) => {
      const near = defaultRangeExtractor(range);
      if (focused === null || focused >= rows.length || near.includes(focused)) return near;
      return [...near, focused].sort((a, b) => a - b);
    },
  });
  const first = list.range?.startIndex ?? 0;
  const last = list.range?.endIndex ?? 0;

  const look = endless?.look;
  useEffect(() => look?.(first, last), [look, first, last, rows.length]);

  const of = endless?.of;
  const latest = useRef({ row, onRow });
  latest.current = { row, onRow };
  useEffect(() => {
    if (box === null || of === null || rows.length === 0) return;
    list.scrollToIndex(Math.min(latest.current.row ?? 0, rows.length - 1), { align: 'start' });
    // once for each list: afterwards it stays where somebody scrolls it
  }, [of, list, box]);
  const isStale = endless?.isStale === true;
  useEffect(() => {
    if (row === undefined && !isStale && (list.scrollOffset ?? 0) > 0) list.scrollToIndex(0);
    // the address does not name a row any more
  }, [row, list]);
  const hasScrolled = useRef(false);
  useEffect(() => {
    if (list.isScrolling) hasScrolled.current = true;
    else if (hasScrolled.current && first !== (latest.current.row ?? 0)) latest.current.onRow?.(first);
  }, [list.isScrolling, first]);

  const onFocus = ({ target }: FocusEvent) => setFocused(indexOf(target));
  // the row that loses the focus must be there until another has it
  const onBlur = ({ relatedTarget }: FocusEvent) => relatedTarget && setFocused(indexOf(relatedTarget));
  const items = list.getVirtualItems();
  const end = items.at(-1)?.end ?? 0;
  return (
    <tbody onFocus={onFocus} onBlur={onBlur}>
      {items.map(({ index, key, start }, i) => (
        <Fragment key={key}>
          <Room height={start - (items[i - 1]?.end ?? 0)} columns={columns.length} />
          <TableRow<Row>
            row={rows[index]}
            columns={columns}
            isMarked={isMarked?.(rows[index]) === true}
            index={index}
            measure={list.measureElement}
          />
        </Fragment>
      ))}
      <Room height={list.getTotalSize() - end} columns={columns.length} />
    </tbody>
  );
}

/** Of the row that something stands in. */
function indexOf(target: EventTarget): number | null {
  const index = target instanceof HTMLElement ? target.closest('tr')?.dataset.index : undefined;
  return index === undefined ? null : Number(index);
}

function Room({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="room" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
