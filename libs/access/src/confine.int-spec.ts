import { openPool } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aKey, aProject, aRun } from '../../../test/support/rows.js';
import { confine, type Confined } from './confine.js';

let db: TestDatabase;
let [mine, theirs] = ['', ''];
beforeAll(async () => {
  db = await testDatabase();
  [mine, theirs] = await Promise.all([aProject(db.ownerPool), aProject(db.ownerPool)]);
  await Promise.all([
    aRun(db.ownerPool, { project: mine, name: 'a' }),
    aRun(db.ownerPool, { project: theirs, name: 'b' }),
  ]);
  for (const project of [mine, theirs, null]) await aKey(db.ownerPool, { project, roles: ['read'] });
});
afterAll(() => db.drop());

const runsSeenBy = async (caller: Confined) =>
  (await caller.query<{ name: string }>('select name from run order by name')).map(({ name }) => name);

describe('a confined database', () => {
  it('shows the rows of its projects and no others, in every table', async () => {
    const caller = confine(db.callerPool, [mine]);
    expect(await runsSeenBy(caller)).toEqual(['a']);
    expect(await caller.query('select id from project')).toEqual([{ id: mine }]);
    expect(await caller.query('select project_id from api_key')).toEqual([{ project_id: mine }]);
  });

  it('shows all to who sees all, both to who has both, and nothing to who has none', async () => {
    expect(await runsSeenBy(confine(db.callerPool, '*'))).toEqual(['a', 'b']);
    expect(await runsSeenBy(confine(db.callerPool, [mine, theirs]))).toEqual(['a', 'b']);
    expect(await runsSeenBy(confine(db.callerPool, []))).toEqual([]);
  });

  it('shows no more of them as bytes, in a transaction or not', async () => {
    const named = (caller: Confined) =>
      caller.binary<{ name: string }>('select name from run where name <> $1 order by name', ['c'], { name: 'text' });
    expect(await named(confine(db.callerPool, [mine]))).toEqual([{ name: 'a' }]);
    expect(await named(confine(db.callerPool, '*'))).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await confine(db.callerPool, [theirs]).transaction(named)).toEqual([{ name: 'b' }]);
    expect(await named(confine(db.callerPool, []))).toEqual([]);
  });

  it('refuses to write into another project, or to every project', async () => {
    const caller = confine(db.callerPool, [mine]);
    const refused = 'violates row-level security policy';
    await expect(
      caller.query(`insert into run (id, project_id, name) values ('x', $1, 'x')`, [theirs]),
    ).rejects.toThrow(refused);
    await expect(caller.query(`insert into project (id, name) values ('x', 'x')`)).rejects.toThrow(refused);
    await expect(
      caller.query(`insert into api_key (id, name, roles, secret_hash) values ('x', 'x', '{admin}', '')`),
    ).rejects.toThrow(refused);
    expect(
      await caller.query(`update api_key set revoked_at = now() where project_id = $1 returning id`, [theirs]),
    ).toEqual([]);
  });

  it('never lends what another caller saw, whoever had the connection before', async () => {
    const callers = [confine(db.callerPool, [mine]), confine(db.callerPool, [theirs]), confine(db.callerPool, [])];
    const seen = await Promise.all(Array.from({ length: 300 }, (_, i) => runsSeenBy(callers[i % 3])));
    seen.forEach((names, i) => expect(names).toEqual([['a'], ['b'], []][i % 3]));
  });

  it('stays confined after a statement that failed', async () => {
    const caller = confine(db.callerPool, [mine]);
    await expect(caller.query('select 1 / 0')).rejects.toThrow('division by zero');
    expect(await runsSeenBy(caller)).toEqual(['a']);
  });

  it('does in one transaction all or nothing', async () => {
    const caller = confine(db.callerPool, [mine]);
    const insert = (tx: Confined, name: string) =>
      tx.query('insert into run (id, project_id, name) values ($2, $1, $2)', [mine, name]);
    const fail = caller.transaction(async (tx) => {
      await insert(tx, 'lost');
      throw new Error('changed my mind');
    });
    await expect(fail).rejects.toThrow('changed my mind');
    const kept = await caller.transaction(async (tx) => {
      await insert(tx, 'kept');
      return runsSeenBy(tx);
    });
    expect([kept, await runsSeenBy(caller)]).toEqual([
      ['a', 'kept'],
      ['a', 'kept'],
    ]);
  });

  it('refuses the pool that is not for callers', () => {
    expect(() => confine(db.pool, [mine])).toThrow('all projects');
  });
});

describe('the application role by itself', () => {
  it('sees nothing before it is confined', async () => {
    const pool = openPool(db.url, { role: 'recredit_app' });
    expect((await pool.query('select * from run')).rows).toEqual([]);
    await pool.end();
  });

  it('cannot delete, rename or read what it was not granted', async () => {
    for (const sql of [
      'delete from run',
      `update run set name = 'x'`,
      'delete from api_key',
      `update api_key set roles = '{admin}'`,
    ]) {
      await expect(db.pool.query(sql)).rejects.toThrow('permission denied');
    }
  });
});
