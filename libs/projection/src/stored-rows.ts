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
  const appended = columnsOf(model).filter(([, type]) => type.startsWith('appended'));
  for (const row of rows) for (const [field] of appended) row[field] = [];
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
  const columns = columnsOf(model).map(([field, type]) => rows.map((row) => parameterOf(type, row[field])));
  await db.query(storeStatement(model), [runId, ...columns]);
}

function selectList<Row extends object>(model: ReadModel<Row>): string {
  return columnsOf(model)
    .filter(([, type]) => !type.startsWith('appended'))
    .map(([field, type]) => `${columnName(field)}${type === 'bigint' ? '::float8' : ''} as "${field}"`)
    .join(', ');
}

function storeStatement<Row extends object>(model: ReadModel<Row>): string {
  const { table, key } = model;
  const columns = columnsOf(model).map(([field, type]) => ({ name: columnName(field), type }));
  const keys = key.map(columnName);
  const replaced = columns
    .filter(({ name }) => !keys.includes(name))
    .map(({ name, type }) => `${name} = ${type.startsWith('appended') ? `${table}.${name} || ` : ''}excluded.${name}`);
  const names = columns.map(({ name }) => name).join(', ');
  return `
    insert into ${table} (run_id, ${names})
    select $1, ${columns.map(({ name, type }) => `${name}::${type.replace('appended ', '')}`).join(', ')}
    from unnest(${columns.map(({ type }, i) => `$${i + 2}::${carrierOf(type)}[]`).join(', ')}) as sent (${names})
    on conflict (${['run_id', ...keys].join(', ')}) do update set ${replaced.join(', ')}`;
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

function columnsOf<Row extends object>({ columns }: ReadModel<Row>) {
  return Object.entries(columns) as [keyof Row & string, ColumnType][];
}
