import DataLoader from 'dataloader';
import { connection, pageOf, type Connection, type Page, type PageArgs } from './connection.js';
import type { Key, Order } from './cursor.js';

/** A page of the list that hangs on a parent. */
interface PageOf<Filter> {
  readonly parent: string;
  readonly page: Page;
  readonly filter: Filter;
}

/** The same page of many parents' lists, in one statement; each row says whose it is. */
export type ReadPages<Node, Filter> = (
  parents: readonly string[],
  limit: number,
  after: Key | null,
  filter: Filter,
) => Promise<readonly (Node & { readonly of: string })[]>;

/** Loads a connection that hangs on the nodes of another list: one statement, however many nodes there are. */
export function pageLoader<Node, Filter = null>(order: Order<Node>, read: ReadPages<Node, Filter>) {
  const loader = new DataLoader<PageOf<Filter>, Connection<Node>, string>(
    async (wanted) => {
      const pages = new Map<PageOf<Filter>, Connection<Node>>();
      const alike = Map.groupBy(wanted, ({ page, filter }) => JSON.stringify([page, filter]));
      for (const same of alike.values()) {
        const [{ page, filter }] = same;
        const parents = same.map(({ parent }) => parent);
        const rows = Map.groupBy(await read(parents, page.size + 1, page.after, filter), (row) => row.of);
        for (const one of same) pages.set(one, connection(page, order, rows.get(one.parent) ?? []));
      }
      return wanted.map((one) => pages.get(one)!);
    },
    { cacheKeyFn: (one) => JSON.stringify(one) },
  );
  return {
    /** @throws RecreditError `query.invalid` for this page alone: the others of the batch do not suffer */
    load: (wanted: { readonly parent: string; readonly page: PageArgs; readonly filter: Filter }) =>
      loader.load({ ...wanted, page: pageOf(wanted.page, order) }),
  };
}
