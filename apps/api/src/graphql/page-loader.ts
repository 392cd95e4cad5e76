import DataLoader from 'dataloader';
import { connect, pageSize, keyFrom, type Connection, type Key, type PageArgs } from './connection.js';

/** A page of the list that hangs on a parent. */
export interface PageOf<Filter> {
  readonly parent: string;
  readonly page: PageArgs;
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
export function pageLoader<Node, Filter = null>(read: ReadPages<Node, Filter>, keyOf: (node: Node) => Key) {
  return new DataLoader<PageOf<Filter>, Connection<Node>, string>(
    async (wanted) => {
      const alike = Map.groupBy(wanted, ({ page, filter }) => JSON.stringify([page.first, page.after, filter]));
      const pages = new Map<PageOf<Filter>, Connection<Node>>();
      for (const same of alike.values()) {
        const [{ page, filter }] = same;
        const after = page.after === undefined ? null : keyFrom(page.after);
        const parents = same.map(({ parent }) => parent);
        const rows = Map.groupBy(await read(parents, pageSize(page.first) + 1, after, filter), (row) => row.of);
        for (const one of same) pages.set(one, await connect(page, async () => rows.get(one.parent) ?? [], keyOf));
      }
      return wanted.map((one) => pages.get(one)!);
    },
    { cacheKeyFn: ({ parent, page, filter }) => JSON.stringify([parent, page.first, page.after, filter]) },
  );
}
