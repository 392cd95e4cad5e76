import type { QueryResultRow } from 'pg';

/** What reads: a pool, a client in a transaction, or a connection confined to some projects. */
export interface Queryable {
  // the caller names the row that his statement selects, as with the driver itself
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  query<Row extends QueryResultRow>(sql: string, params?: unknown[]): Promise<{ rows: Row[] }>;
}
