import type { Queryable } from '#lib/storage';
import { columnName, type ColumnType, type ReadModel } from './read-model.js';

/** Loads rows of a run. `where` speaks of the table by its name and of further parameters from $2 on. */
export async function loadRows<Row extends object>(
  db: Queryable,
  model: ReadModel<Row>,
  runId: string,
  where = 'true',
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await db.query(`select ${selectList(model)} from ${model.table} where run_id = $1 and ${where}`, [
    runId,
    ...params,
  ]);
  const appended = fieldsOf(model).filter((field) => model.columns[field].startsWith('appended'));
  for (const row of rows) for (const field of appended) row[field] = [];
  return rows;
}

/** Stores new and changed rows of a run in one statement. What is stored under the same key is replaced. */
export async function storeRows<Row extends object>(
  db: Queryable,
  model: ReadModel<Row>,
  runId: string,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const fields = fieldsOf(model);
  await db.query(storeStatement(model, fields), [
    runId,
    ...fields.map((field) => rows.map((row) => parameterOf(model.columns[field], row[field]))),
  ]);
}

function selectList<Row extends object>({ columns }: ReadModel<Row>): string {
  const fields = Object.entries<ColumnType>(columns).filter(([, type]) => !type.startsWith('appended'));
  return fields
    .map(([field, type]) => `${columnName(field)}${type === 'bigint' ? '::float8' : ''} as "${field}"`)
    .join(', ');
}

function storeStatement<Row extends object>(model: ReadModel<Row>, fields: readonly (keyof Row & string)[]): string {
  const { table, key, columns } = model;
  const names = fields.map(columnName);
  const changing = fields.filter((field) => !key.includes(field));
  const replaced = changing.map((field) => {
    const name = columnName(field);
    const before = columns[field].startsWith('appended') ? `${table}.${name} || ` : '';
    return `${name} = ${before}excluded.${name}`;
  });
  return `
    insert into ${table} (run_id, ${names.join(', ')})
    select $1, ${fields.map((field) => `${columnName(field)}::${typeOf(columns[field])}`).join(', ')}
    from unnest(${fields.map((field, i) => `$${i + 2}::${carrierOf(columns[field])}[]`).join(', ')})
      as sent (${names.join(', ')})
    on conflict (${['run_id', ...key.map(columnName)].join(', ')}) do update set ${replaced.join(', ')}`;
}

function typeOf(type: ColumnType): string {
  return type.replace('appended ', '');
}

/** unnest takes arrays of arrays apart, and JSON is ready when it arrives: both travel as text. */
function carrierOf(type: ColumnType): string {
  return type === 'json' || type === 'jsonb' || type.startsWith('appended') ? 'text' : type;
}

function parameterOf(type: ColumnType, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'json' || type === 'jsonb') return JSON.stringify(value);
  if (type.startsWith('appended')) return `{${(value as number[]).join(',')}}`;
  return value;
}

function fieldsOf<Row extends object>({ columns }: ReadModel<Row>): (keyof Row & string)[] {
  return Object.keys(columns) as (keyof Row & string)[];
}
