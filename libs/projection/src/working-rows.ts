/**
 * The rows of one read model that a chunk of events speaks of: loaded once, changed in memory, stored once. Whole
 * values are stored and not differences, so that how the events fell into chunks leaves no trace in any sum.
 */
export class WorkingRows<Row extends object> {
  readonly #rows = new Map<string, Row>();
  readonly #changed = new Set<Row>();

  constructor(
    private readonly keyOf: (row: Row) => string,
    loaded: readonly Row[] = [],
  ) {
    for (const row of loaded) this.#rows.set(keyOf(row), row);
  }

  /** The row of this key, to be changed. */
  change(key: string): Row | undefined {
    const row = this.#rows.get(key);
    if (row) this.#changed.add(row);
    return row;
  }

  add(row: Row): Row {
    this.#rows.set(this.keyOf(row), row);
    this.#changed.add(row);
    return row;
  }

  /** What has to be stored; from now on it counts as stored. */
  takeChanged(): Row[] {
    const rows = [...this.#changed];
    this.#changed.clear();
    return rows;
  }

  /** All rows at hand, by ascending key order of arrival. */
  values(): Iterable<Row> {
    return this.#rows.values();
  }
}
