/** A row, and the cursor of what comes after it. */
export interface Edge<Row> {
  readonly cursor: string;
  readonly node: Row;
}

export interface RowsPage<Row> {
  readonly edges: readonly Edge<Row>[];
  readonly hasMore: boolean;
  /** rows on all pages; not said: nobody asked */
  readonly count?: number | undefined;
  /** all that the API answered last */
  readonly answer?: unknown;
}

type KeyOf<Row> = (row: Row) => string;

/** More rows at the end; what moved there meanwhile stands there alone. */
export function appended<Row>(old: RowsPage<Row>, page: RowsPage<Row>, keyOf: KeyOf<Row>): RowsPage<Row> {
  const fresh = new Set(page.edges.map(({ node }) => keyOf(node)));
  const edges = [...old.edges.filter(({ node }) => !fresh.has(keyOf(node))), ...page.edges];
  return { edges, hasMore: page.hasMore, count: page.count ?? old.count, answer: page.answer };
}

/**
 * The list after some rows in its middle were asked for again. What follows them is kept where nothing can be missing
 * between: where each old row up to the last fresh one is among the fresh. Otherwise the list ends there, to be asked on.
 *
 * @param at the index at which the fresh rows begin
 */
export function refreshed<Row>(old: RowsPage<Row>, at: number, fresh: RowsPage<Row>, keyOf: KeyOf<Row>): RowsPage<Row> {
  const keys = new Set(fresh.edges.map(({ node }) => keyOf(node)));
  const isOther = ({ node }: Edge<Row>) => !keys.has(keyOf(node));
  const before = old.edges.slice(0, at).filter(isOther);
  const last = fresh.edges.at(-1);
  const lastAt = last ? old.edges.findIndex(({ node }, i) => i >= at && keyOf(node) === keyOf(last.node)) : -1;
  const isKept = fresh.hasMore && lastAt >= at && !old.edges.slice(at, lastAt).some(isOther);
  return {
    edges: [...before, ...fresh.edges, ...(isKept ? old.edges.slice(lastAt + 1).filter(isOther) : [])],
    hasMore: isKept ? old.hasMore : fresh.hasMore,
    count: fresh.count ?? old.count,
    answer: fresh.answer,
  };
}
