/** How a field of a row is stored. `appended` is never loaded: what it holds is added to what is stored. */
export type ColumnType =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'double precision'
  | 'boolean'
  | 'timestamptz'
  | 'json'
  | 'jsonb'
  | 'bytea'
  | 'appended bigint[]';

/**
 * A table that the projector keeps, as data: the statements that load and store its rows follow from it.
 * Columns are the fields in snake_case, and every table has `run_id` before them.
 */
export interface ReadModel<Row extends object> {
  readonly table: string;
  /** with run_id the primary key */
  readonly key: readonly (keyof Row & string)[];
  readonly columns: { readonly [Field in keyof Row & string]: ColumnType };
}

export function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
