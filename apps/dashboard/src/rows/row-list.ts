import { appended, refreshed, type RowsPage } from './merge-rows.js';

/** Rows ahead of those on screen that are there before anybody sees them. */
const AHEAD = 50;
/** What lies above a place in the list is asked for in larger pages. */
const LARGEST_PAGE = 500;
/** Lists that are shown again at once when somebody comes back to them. */
const KEPT = 8;

export interface PageWanted {
  readonly first: number;
  readonly after: string | null;
  /** with all that a row on screen shows; false: only what makes it a row */
  readonly isFull: boolean;
  /** with the number of rows on all pages */
  readonly isCounted: boolean;
}

export type AskPage<Row> = (page: PageWanted) => Promise<RowsPage<Row>>;

/** One list: another filter or order is another one. */
export interface Wanted<Row> {
  /** says which list it is; equal for equal lists */
  readonly of: string;
  readonly ask: AskPage<Row>;
  readonly keyOf: (row: Row) => string;
  readonly pageSize: number;
  /** index of the first row on screen */
  readonly startAt?: number | undefined;
  /** all rows are wanted, wherever somebody looks: they are sorted on screen */
  readonly isWhole?: boolean | undefined;
  /** whether a row has all that is shown of it; not said: all have */
  readonly isFull?: ((row: Row) => boolean) | undefined;
}

export interface Shown<Row> extends RowsPage<Row> {
  /** null: none is shown yet */
  readonly of: string | null;
  /** of another list than is wanted, until that has answered */
  readonly isStale: boolean;
  readonly error: unknown;
}

export type KeptLists = Map<string, RowsPage<unknown>>;

const NONE: RowsPage<never> = { edges: [], hasMore: true };

/**
 * The rows of a list that is asked for page by page, as far as somebody looks. What is on screen is asked for again in
 * its place, so nothing above or below it moves; when another list is wanted, the old one stays until that has answered.
 */
export class RowList<Row> {
  #shown: Shown<Row>;
  #wanted: Wanted<Row> | null = null;
  /** the rows that somebody sees */
  #seen = { first: 0, last: 0 };
  /** what is on screen is to be asked for again */
  #isOld = false;
  /** a worker that finds another one here is not wanted any more */
  #worker: symbol | null = null;
  /** nothing is asked until somebody wants it again */
  #hasFailed = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly kept: KeptLists,
    of: string,
  ) {
    const page = kept.get(of) as RowsPage<Row> | undefined;
    this.#shown = { ...(page ?? NONE), of: page ? of : null, isStale: false, error: undefined };
  }

  readonly shown = (): Shown<Row> => this.#shown;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** This list is to be shown. */
  want(wanted: Wanted<Row>): void {
    const isAnother = this.#wanted?.of !== wanted.of;
    this.#wanted = wanted;
    if (!isAnother) return this.#goOn();
    const first = wanted.startAt ?? 0;
    this.#seen = { first, last: first };
    const page = this.kept.get(wanted.of) as RowsPage<Row> | undefined;
    if (page) this.#show({ ...page, of: wanted.of, isStale: false, error: undefined });
    else this.#show({ ...this.#shown, isStale: this.#shown.of !== null, error: undefined });
    this.#isOld = page !== undefined;
    this.#hasFailed = false;
    this.#begin();
  }

  /** Nobody looks any more. */
  close(): void {
    this.#worker = null;
    this.#wanted = null;
  }

  /** These rows are on screen. */
  readonly look = (first: number, last: number): void => {
    if (this.#shown.isStale) return;
    this.#seen = { first, last };
    this.#goOn();
  };

  /** What is on screen is asked for again, and what failed. */
  readonly again = (): void => {
    this.#isOld = true;
    this.#hasFailed = false; // what failed is said until an answer comes
    this.#goOn();
  };

  #goOn(): void {
    if (this.#worker === null && this.#wanted && !this.#hasFailed) this.#begin();
  }

  #begin(): void {
    const worker = Symbol('a worker');
    this.#worker = worker;
    void this.#work(worker).catch((error: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#hasFailed = true;
      this.#show({ ...this.#shown, error });
    });
  }

  /** One request after the other, the most wanted first, until there is nothing to ask. */
  async #work(worker: symbol): Promise<void> {
    for (;;) {
      const wanted = this.#wanted;
      const ask = wanted && this.#next(wanted);
      if (!ask) {
        this.#worker = null;
        return;
      }
      const page = await ask();
      if (this.#worker !== worker) return;
      this.#keep(wanted.of, page);
      this.#show({ ...page, of: wanted.of, isStale: false, error: undefined });
    }
  }

  #next(wanted: Wanted<Row>): (() => Promise<RowsPage<Row>>) | null {
    const { edges, hasMore, of } = this.#shown;
    if (of !== wanted.of) return () => this.#open(wanted);
    if (hasMore && (wanted.isWhole || this.#seen.last + AHEAD >= edges.length)) return () => this.#more(wanted);
    // what stands where is known to whoever sorts them alone
    const first = wanted.isWhole ? 0 : Math.min(this.#seen.first, edges.length);
    const end = wanted.isWhole ? edges.length : Math.min(this.#seen.last + 1, edges.length);
    if (this.#isOld) return () => this.#refresh(wanted, first, end);
    const bare = edges.slice(first, end).findIndex(({ node }) => wanted.isFull?.(node) === false);
    return bare < 0 ? null : () => this.#refresh(wanted, first + bare, end);
  }

  /** The list from its beginning, down to where somebody wants to look. */
  async #open({ ask, keyOf, pageSize, startAt = 0 }: Wanted<Row>): Promise<RowsPage<Row>> {
    this.#isOld = false;
    let list: RowsPage<Row> = NONE;
    while (list.hasMore && list.edges.length <= startAt) {
      const above = startAt - list.edges.length;
      const after = list.edges.at(-1)?.cursor ?? null;
      const first = above > 0 ? Math.min(LARGEST_PAGE, above) : pageSize;
      const page = await ask({ first, after, isFull: above <= 0, isCounted: after === null });
      list = appended(list, page, keyOf);
    }
    return list;
  }

  async #more({ ask, keyOf, pageSize, isWhole }: Wanted<Row>): Promise<RowsPage<Row>> {
    const after = this.#shown.edges.at(-1)?.cursor ?? null;
    const first = isWhole ? LARGEST_PAGE : pageSize;
    const page = await ask({ first, after, isFull: true, isCounted: false });
    return appended(this.#shown, page, keyOf);
  }

  async #refresh({ ask, keyOf, pageSize }: Wanted<Row>, at: number, end: number): Promise<RowsPage<Row>> {
    this.#isOld = false;
    const after = this.#shown.edges[at - 1]?.cursor ?? null;
    const first = end > at ? Math.min(end - at, LARGEST_PAGE) : pageSize;
    const fresh = await ask({ first, after, isFull: true, isCounted: true });
    return refreshed(this.#shown, at, fresh, keyOf);
  }

  #keep(of: string, { edges, hasMore, count, answer }: RowsPage<Row>): void {
    this.kept.delete(of);
    this.kept.set(of, { edges, hasMore, count, answer });
    for (const oldest of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(oldest);
  }

  #show(shown: Shown<Row>): void {
    this.#shown = shown;
    for (const listener of this.#listeners) listener();
  }
}
