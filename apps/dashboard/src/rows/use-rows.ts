import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useClient, type AnyVariables, type Client, type CombinedError, type TypedDocumentNode } from 'urql';
import { useLink } from '../link.js';
import { useOnChange } from '../use-live.js';
import type { Edge, RowsPage } from './merge-rows.js';
import { RowList, type AskPage, type KeptLists, type PageWanted } from './row-list.js';

const PAGE_SIZE = 50;

/** A list as the API gives it. */
interface Connection<Row> {
  readonly edges: readonly Edge<Row>[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly count?: number;
}

interface Asking<Row, Data, Variables extends AnyVariables> {
  readonly query: TypedDocumentNode<Data, Variables>;
  readonly variablesOf: (page: PageWanted) => Variables;
  /** null: what the list hangs on is not there */
  readonly connectionOf: (data: Data) => Connection<Row> | null | undefined;
  readonly keyOf: (row: Row) => string;
  /** says which list it is: another filter is another list */
  readonly of: string;
  readonly pageSize?: number;
  /** index of the first row on screen, where the address says so */
  readonly startAt?: number | undefined;
  readonly isFull?: (row: Row) => boolean;
  /** all rows are wanted: they are sorted on screen */
  readonly isWhole?: boolean;
  /** another filter of the same list: its rows stay until the next are there */
  readonly keepsLast?: boolean;
}

export interface Rows<Row, Data> {
  /** what was answered last, with all that stands beside the rows */
  readonly answer: Data | undefined;
  readonly rows: readonly Row[];
  /** which list the rows are of; null: none has answered yet */
  readonly of: string | null;
  /** on all pages; undefined: not known */
  readonly count: number | undefined;
  readonly hasMore: boolean;
  /** the rows are those of the list that was wanted before */
  readonly isStale: boolean;
  readonly error: CombinedError | undefined;
  readonly again: () => void;
  /** tells which rows are on screen */
  readonly look: (first: number, last: number) => void;
}

const NOTHING: RowsPage<never> = { edges: [], hasMore: true };

/** Lists of one session: whoever signs in next has another client. */
const keptBy = new WeakMap<Client, KeptLists>();

/** The rows of a connection, page by page as far as somebody looks. */
export function useRows<Row, Data, Variables extends AnyVariables>(
  asking: Asking<Row, Data, Variables>,
): Rows<Row, Data> {
  const { of, keyOf, pageSize = PAGE_SIZE, startAt, isFull, isWhole, keepsLast = false } = asking;
  const client = useClient();
  const [list] = useState(() => {
    const kept = keptBy.get(client) ?? new Map<string, RowsPage<unknown>>();
    keptBy.set(client, kept);
    return new RowList<Row>(kept, of);
  });
  const latest = useRef(asking);
  latest.current = asking;
  useEffect(() => {
    const { query, variablesOf, connectionOf } = latest.current;
    const ask: AskPage<Row> = async (page) => {
      const { data, error } = await client
        .query(query, variablesOf(page), { requestPolicy: 'network-only' })
        .toPromise();
      if (!data) throw error ?? new Error('the API did not answer as it should');
      const found = connectionOf(data);
      return {
        edges: found?.edges ?? [],
        hasMore: found?.pageInfo.hasNextPage ?? false,
        count: found?.count,
        answer: data,
      };
    };
    list.want({ of, ask, keyOf, pageSize, startAt, isFull, isWhole });
    // where the list is wanted from counts when it is opened
  }, [client, list, of, isWhole]);
  useEffect(() => () => list.close(), [list]);
  const { returns } = useLink();
  useOnChange(returns, list.again, 0);

  const shown = useSyncExternalStore(list.subscribe, list.shown);
  const isHidden = shown.of !== of && !keepsLast;
  const { edges, hasMore, count, answer } = isHidden ? NOTHING : shown;
  const rows = useMemo(() => edges.map(({ node }) => node), [edges]);
  const shownOf = isHidden ? null : shown.of;
  const problem = shown.error as CombinedError | undefined;
  const isAway = problem?.networkError !== undefined;
  return {
    rows,
    answer: answer as Data | undefined,
    of: shownOf,
    count,
    hasMore,
    isStale: shown.isStale || shown.of !== of,
    error: isAway && shownOf !== null ? undefined : problem,
    again: list.again,
    look: list.look,
  };
}
