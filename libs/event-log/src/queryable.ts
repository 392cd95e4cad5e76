import type { QueryResultRow } from 'pg';

/** The columns of a statement, by the names that its rows get, in its order; what each holds, as Postgres names it. */
export type Columns<Row> = { readonly [Name in keyof Row]: 'int4' | 'float8' | 'text' | 'bytea' | 'timestamptz' };

type Parameter = string | number | readonly number[];

/** What reads: a pool, a client in a transaction, or a connection confined to some projects. */
export interface Queryable {
  // the caller names the row that his statement selects, as with the driver itself
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  query<Row extends QueryResultRow>(sql: string, params?: unknown[]): Promise<{ rows: Row[] }>;
  /** the rows of a SELECT, as bytes; not there: it has no faster way than `query` */
  binary?<Row>(sql: string, params: readonly Parameter[], columns: Columns<Row>): Promise<Row[]>;
}

/** Rows with payloads, which as text are twice as long. */
export async function rowsWithBytes<Row extends QueryResultRow>(
  db: Queryable,
  sql: string,
  params: readonly Parameter[],
  columns: Columns<Row>,
): Promise<Row[]> {
  if (db.binary) return db.binary(sql, params, columns);
  const { rows } = await db.query<Row>(sql, [...params]);
  return rows;
}
