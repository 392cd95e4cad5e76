/** Where a row is looked up: its name, within a scope where names are not unique in the run. */
export interface RowKey {
  readonly scope?: string | number;
  readonly name: string | number;
}

/**
 * The rows of one read model that a chunk of events speaks of: loaded once, changed in memory, stored once. Whole
 * values are stored and not differences, so that how the events fell into chunks leaves no trace in any sum.
 */
export class WorkingRows<Row extends object> {
  // scope and name apart: joining them would make and hash a new string for every event
  readonly #scopes = new Map<string | number, Map<string | number, Row>>();
  readonly #changed = new Set<Row>();

  constructor(
    private readonly keyOf: (row: Row) => RowKey,
    loaded: readonly Row[] = [],
  ) {
    for (const row of loaded) this.#put(row);
  }

  /** The row of this name, to be changed. */
  change(name: string | number, scope: string | number = ''): Row | undefined {
    const row = this.#scopes.get(scope)?.get(name);
    if (row) this.#changed.add(row);
    return row;
  }

  add(row: Row): Row {
    this.#put(row);
    this.#changed.add(row);
    return row;
  }

  /** What has to be stored; from now on it counts as stored. */
  takeChanged(): Row[] {
    const rows = [...this.#changed];
    this.#changed.clear();
    return rows;
  }

  #put(row: Row): void {
    const { scope = '', name } = this.keyOf(row);
    const names = this.#scopes.get(scope) ?? new Map<string | number, Row>();
    this.#scopes.set(scope, names.set(name, row));
  }
}
