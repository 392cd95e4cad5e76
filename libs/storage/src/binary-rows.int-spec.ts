import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { binaryRows, type Columns, type Parameter } from './binary-rows.js';
import type { PoolClient } from './pool.js';

let db: TestDatabase;
let client: PoolClient;
beforeAll(async () => {
  db = await testDatabase();
  client = await db.pool.connect();
});
afterAll(async () => {
  client?.release();
  await db.drop();
});

/** What the driver gives by itself. */
const rowsOf = async (sql: string, params: readonly Parameter[]) => (await client.query(sql, [...params])).rows;

const KINDS: Columns<Record<'whole' | 'real' | 'words' | 'bytes' | 'at', unknown>> = {
  whole: 'int4',
  real: 'float8',
  words: 'text',
  bytes: 'bytea',
  at: 'timestamptz',
};

it.each([
  [
    'of every kind',
    `values (-7, 0.1::float8, 'päth 😀', '\\x00ff5043'::bytea, '1999-12-31 23:59:59.999Z'::timestamptz)`,
  ],
  [
    'at their limits',
    `values (2147483647, '-Infinity'::float8, '', ''::bytea, '2026-11-21 12:00:00.001Z'::timestamptz)`,
  ],
  ['of nothing', `values (null::int4, null::float8, null::text, null::bytea, null::timestamptz)`],
  ['that are none', `select 1, 1::float8, '', ''::bytea, now() where false`],
  [
    'that are many, and larger than a packet',
    `select i, i / 7::float8, repeat('x', i), decode(repeat('ab', i * i * 50), 'hex'), to_timestamp(i)
     from generate_series(1, 40) as i`,
  ],
])('gives rows %s as the driver does', async (_, values) => {
  const sql = `select * from (${values}) as v (whole, real, words, bytes, at)`;
  expect(await binaryRows(client, sql, [], KINDS)).toEqual(await rowsOf(sql, []));
});

it('takes parameters as the driver does, whatever they hold', async () => {
  const sql = `select $1::text as words, $2::float8 as real, n as whole
    from unnest($3::int[]) as n where n > $4 and $1 = $1 limit $5`;
  const columns = { words: 'text', real: 'float8', whole: 'int4' } as const;
  for (const words of [`it's $2 \\ "so"`, "'; drop table run; --", '$1', '\\', 'ä\n']) {
    const params = [words, -1.5e-9, [-3, -1, 2, 5], -2, 2];
    expect(await binaryRows(client, sql, params, columns)).toEqual(await rowsOf(sql, params));
  }
});

it('says what Postgres says of a statement that fails, before its rows or among them; the connection goes on', async () => {
  const columns = { whole: 'int4' } as const;
  await expect(binaryRows(client, 'select nothing', [], columns)).rejects.toMatchObject({ code: '42703' });
  const late = 'select 1 / (2000 - i) as whole from generate_series(1, 3000) as i';
  await expect(binaryRows(client, late, [], columns)).rejects.toMatchObject({ code: '22012' });
  expect(await binaryRows(client, 'select 7 as whole', [], columns)).toEqual([{ whole: 7 }]);
});

it('fails when its connection dies', async () => {
  const dying = await db.pool.connect();
  const { pid } = (await dying.query('select pg_backend_pid() as pid')).rows[0];
  const waiting = binaryRows(dying, `select 1 as whole from pg_sleep(60)`, [], { whole: 'int4' });
  await Promise.all([expect(waiting).rejects.toThrow(), db.ownerPool.query('select pg_terminate_backend($1)', [pid])]);
  dying.release(true);
});
