import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { inTransaction, openPool } from './pool.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.ownerPool.query('create table note (text text); grant select, insert on note to recredit_app');
});
afterAll(() => db.drop());

const notes = async () => (await db.pool.query('select text from note order by text')).rows.map(({ text }) => text);

describe('a pool', () => {
  it('works as the application, who may not do what was not granted', async () => {
    expect((await db.pool.query('select current_user as me')).rows).toEqual([{ me: 'recredit_app' }]);
    await expect(db.pool.query('delete from note')).rejects.toThrow('permission denied');
  });

  it('outlives connections that are killed, idle or held', async () => {
    const pool = openPool(db.url, { role: 'recredit_app', size: 2 });
    const pid = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid;
    await db.ownerPool.query('select pg_terminate_backend($1)', [await pid()]);
    await expect.poll(() => pool.totalCount).toBe(0);
    const held = await pool.connect();
    const { pid: heldPid } = (await held.query('select pg_backend_pid() as pid')).rows[0];
    await db.ownerPool.query('select pg_terminate_backend($1)', [heldPid]);
    await expect(held.query('select 1')).rejects.toThrow();
    held.release(true);
    await expect(pid()).resolves.toBeGreaterThan(0);
    await pool.end();
  });

  it('keeps the options of the connection string beside its own', async () => {
    const pool = openPool(`${db.url}&options=-c%20statement_timeout%3D1234`, { role: 'recredit_app', projects: '*' });
    const { rows } = await pool.query(
      `select current_user as me, current_setting('statement_timeout') as timeout, current_setting('recredit.projects') as projects`,
    );
    expect(rows).toEqual([{ me: 'recredit_app', timeout: '1234ms', projects: '*' }]);
    await pool.end();
  });
});

describe('inTransaction', () => {
  it('commits what the work returns from', async () => {
    const result = await inTransaction(db.pool, async (client) => {
      await client.query(`insert into note values ('kept')`);
      return 7;
    });
    expect([result, await notes()]).toEqual([7, ['kept']]);
  });

  it('rolls back what throws, and gives the connection back', async () => {
    const fail = inTransaction(db.pool, async (client) => {
      await client.query(`insert into note values ('lost')`);
      throw new Error('changed my mind');
    });
    await expect(fail).rejects.toThrow('changed my mind');
    expect(await notes()).toEqual(['kept']);
    expect(db.pool.idleCount).toBe(db.pool.totalCount);
  });

  it('does not call a transaction committed whose statement failed, even if the work swallowed that', async () => {
    const swallow = inTransaction(db.pool, async (client) => {
      await client.query(`insert into note values ('lost')`);
      await client.query('select 1 / 0').catch(() => {});
    });
    await expect(swallow).rejects.toThrow('rolled back');
    expect(await notes()).toEqual(['kept']);
  });

  it('throws when the connection dies in the middle', async () => {
    const die = inTransaction(db.pool, async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid');
      await db.ownerPool.query('select pg_terminate_backend($1)', [rows[0].pid]);
      await client.query(`insert into note values ('lost')`);
    });
    await expect(die).rejects.toThrow();
    expect(await notes()).toEqual(['kept']);
  });
});
