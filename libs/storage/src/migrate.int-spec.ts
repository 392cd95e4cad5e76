import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import { databaseUrl } from '../../../test/support/database-url.js';
import { runMigrations, type Migration } from './migrate.js';
import { openPool, type Pool } from './pool.js';

let admin: Pool;
const made: string[] = [];
beforeAll(() => {
  admin = openPool(inject('postgresUrl'), { size: 2 });
});
afterAll(async () => {
  for (const name of made) await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

async function anEmptyDatabase(): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  made.push(name);
  await admin.query(`create database ${name}`);
  return databaseUrl(inject('postgresUrl'), name);
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const pool = openPool(url, { size: 1 });
  try {
    return (await pool.query(sql)).rows;
  } finally {
    await pool.end();
  }
}

function migration(name: string, sql: string): Migration {
  const named = {
    [name]: class {
      readonly name = name;
      async up(db: { query(sql: string): Promise<unknown> }) {
        await db.query(sql);
      }
      async down() {}
    },
  };
  return named[name];
}

const ONE = migration('One1767225600000', 'create table one (id int)');
const TWO = migration('Two1767225601000', 'create table two (id int)');
const BROKEN = migration('Broken1767225602000', 'create table three (id int); select 1 / 0');

describe('migrations', () => {
  it('run once each, the new ones after the old ones', async () => {
    const url = await anEmptyDatabase();
    expect(await runMigrations(url, [ONE])).toEqual(['One1767225600000']);
    expect(await runMigrations(url, [TWO, ONE])).toEqual(['Two1767225601000']);
    expect(await runMigrations(url, [ONE, TWO])).toEqual([]);
    expect(await ask(url, 'select * from one, two')).toEqual([]);
  });

  it('run once when many programs start at the same time', async () => {
    const url = await anEmptyDatabase();
    const slow = migration('Slow1767225600000', 'create table slow (id int); select pg_sleep(0.3)');
    const runs = await Promise.all([1, 2, 3, 4, 5].map(() => runMigrations(url, [slow, TWO])));
    expect(runs.filter((names) => names.length > 0)).toEqual([['Slow1767225600000', 'Two1767225601000']]);
  });

  it('leave nothing of one that fails, keep those before it, and go on when it is mended', async () => {
    const url = await anEmptyDatabase();
    await expect(runMigrations(url, [ONE, BROKEN])).rejects.toThrow('division by zero');
    expect(await ask(url, `select to_regclass('one') is not null as one, to_regclass('three') as three`)).toEqual([
      { one: true, three: null },
    ]);
    const mended = migration('Broken1767225602000', 'create table three (id int)');
    expect(await runMigrations(url, [ONE, mended])).toEqual(['Broken1767225602000']);
  });

  it('are refused by a program older than the database', async () => {
    const url = await anEmptyDatabase();
    await runMigrations(url, [ONE, TWO]);
    await expect(runMigrations(url, [ONE])).rejects.toMatchObject({
      code: 'database.unavailable',
      message: expect.stringContaining('Two1767225601000'),
    });
  });

  it('of ours run on an empty database, also when two databases of a server are migrated at once', async () => {
    const urls = await Promise.all([anEmptyDatabase(), anEmptyDatabase()]);
    const runs = await Promise.all(urls.map((url) => runMigrations(url, MIGRATIONS)));
    expect(runs).toEqual([MIGRATIONS, MIGRATIONS].map((list) => list.map(({ name }) => name)));
  });
});
