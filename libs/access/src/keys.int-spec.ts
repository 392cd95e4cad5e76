import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aKey, aProject } from '../../../test/support/rows.js';
import { Authenticator } from './authenticator.js';
import { confine, type Confined } from './confine.js';
import { createFirstKey, createKey, listKeys, revokeKey } from './keys.js';

let db: TestDatabase;
let all: Confined;
let project: string;
beforeAll(async () => {
  db = await testDatabase();
  all = confine(db.callerPool, '*');
  project = await aProject(db.ownerPool);
});
afterAll(() => db.drop());

/** Its time is set by hand. */
const aClock = (now = 0) => ({ now: () => new Date(now), pass: (ms: number) => (now += ms) });

describe('a key', () => {
  it('says who holds it', async () => {
    const authenticator = new Authenticator(db.callerPool);
    const { key, text } = await createKey(all, { projectId: project, name: 'trainer', roles: ['ingest', 'read'] });
    const limits = { requestsPerSecond: null, eventsPerSecond: null };
    const principal = { keyId: key.id, projects: [project], roles: ['ingest', 'read'], limits };
    expect(await authenticator.authenticate(`Bearer ${text}`)).toEqual(principal);
    expect(await authenticator.authenticate(`bearer ${text}`)).toEqual(principal);
  });

  it('of no project is of every project', async () => {
    const text = await aKey(db.ownerPool, { project: null, roles: ['admin'] });
    expect(await new Authenticator(db.callerPool).authenticate(`Bearer ${text}`)).toMatchObject({
      projects: '*',
      roles: ['admin'],
    });
  });

  it('is stored as a hash: its secret is in no column', async () => {
    const { key, text } = await createKey(all, { projectId: project, name: 'secret', roles: ['read'] });
    const { rows } = await db.ownerPool.query('select api_key::text as row, secret_hash from api_key where id = $1', [
      key.id,
    ]);
    expect(rows[0].row).not.toContain(text.split('_')[2]);
    expect(rows[0].secret_hash).toHaveLength(32);
  });

  it.each([
    ['none', undefined, 'key.missing'],
    ['another scheme', 'Basic abc', 'key.missing'],
    ['no key of ours', 'Bearer hello', 'key.invalid'],
    ['an unknown id', `Bearer rk_${'0'.repeat(16)}_${'0'.repeat(48)}`, 'key.invalid'],
    ['SQL', `Bearer rk_'or''='_x`, 'key.invalid'],
  ])('is refused: %s', async (_, header, code) => {
    await expect(new Authenticator(db.callerPool).authenticate(header)).rejects.toMatchObject({ code });
  });

  it('is refused with another secret, remembered or not', async () => {
    const authenticator = new Authenticator(db.callerPool);
    const text = await aKey(db.ownerPool, { project, roles: ['read'] });
    const wrong = `Bearer ${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
    await expect(authenticator.authenticate(wrong)).rejects.toMatchObject({ code: 'key.invalid' });
    await authenticator.authenticate(`Bearer ${text}`);
    await expect(authenticator.authenticate(wrong)).rejects.toMatchObject({ code: 'key.invalid' });
  });

  it('notes when it was used', async () => {
    const { key, text } = await createKey(all, { projectId: project, name: 'used', roles: ['read'] });
    await new Authenticator(db.callerPool).authenticate(`Bearer ${text}`);
    const listed = (await listKeys(all)).find(({ id }) => id === key.id);
    expect([key.lastUsedAt, listed?.lastUsedAt]).toEqual([null, expect.any(Date)]);
  });
});

describe('a revocation', () => {
  it('takes effect at once where it is made, and within a second elsewhere', async () => {
    const clock = aClock();
    const [here, elsewhere] = [new Authenticator(db.callerPool, clock), new Authenticator(db.callerPool, clock)];
    const { key, text } = await createKey(all, { projectId: project, name: 'leaked', roles: ['read'] });
    await Promise.all([here, elsewhere].map((authenticator) => authenticator.authenticate(`Bearer ${text}`)));

    await here.revoke(all, key.id);
    await expect(here.authenticate(`Bearer ${text}`)).rejects.toMatchObject({ code: 'key.invalid' });
    await elsewhere.authenticate(`Bearer ${text}`);
    clock.pass(1000);
    await expect(elsewhere.authenticate(`Bearer ${text}`)).rejects.toMatchObject({ code: 'key.invalid' });
  });

  it('keeps its first date, and is refused for keys of other projects', async () => {
    const { key } = await createKey(all, { projectId: project, name: 'twice', roles: ['read'] });
    const first = await revokeKey(all, key.id);
    expect((await revokeKey(all, key.id)).revokedAt).toEqual(first.revokedAt);
    const stranger = confine(db.callerPool, [await aProject(db.ownerPool)]);
    await expect(revokeKey(stranger, key.id)).rejects.toMatchObject({ code: 'key.unknown' });
  });
});

it('asks the database once for many requests at the same time', async () => {
  const text = await aKey(db.ownerPool, { project, roles: ['ingest'] });
  const authenticator = new Authenticator(db.callerPool);
  const lookups = async () => {
    await db.ownerPool.query('select pg_stat_force_next_flush()');
    const { rows } = await db.ownerPool.query(
      `select idx_scan::int as n from pg_stat_user_tables where relname = 'api_key'`,
    );
    return rows[0].n as number;
  };
  await Promise.all(Array.from({ length: 500 }, () => authenticator.authenticate(`Bearer ${text}`)));
  const before = await lookups();
  for (let i = 0; i < 500; i++) await authenticator.authenticate(`Bearer ${text}`);
  expect((await lookups()) - before).toBeLessThan(10);
});

describe('making keys', () => {
  it('is confined: no key for another project, nor for all', async () => {
    const caller = confine(db.callerPool, [project]);
    const roles = ['admin'] as const;
    const theirs = await aProject(db.ownerPool);
    await expect(createKey(caller, { projectId: theirs, name: 'x', roles })).rejects.toMatchObject({
      code: 'project.unknown',
    });
    await expect(createKey(caller, { projectId: null, name: 'x', roles })).rejects.toMatchObject({
      code: 'project.unknown',
    });
    expect((await createKey(caller, { projectId: project, name: 'ok', roles })).key.projectId).toBe(project);
  });

  it('wants roles that there are', async () => {
    const make = (roles: string[]) => createKey(all, { projectId: project, name: 'x', roles: roles as never });
    await expect(make([])).rejects.toMatchObject({ code: 'request.invalid' });
    await expect(make(['root'])).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('lists page by page, newest first', async () => {
    const own = confine(db.callerPool, [await aProject(db.ownerPool)]);
    const projectId = own.projects[0];
    for (const name of ['1', '2', '3']) await createKey(own, { projectId, name, roles: ['read'] });
    const first = await listKeys(own, 2);
    const rest = await listKeys(own, 2, first[1]);
    const names = [...first, ...rest].map(({ name }) => name);
    expect(names.toSorted()).toEqual(['1', '2', '3']);
    expect(first[0].createdAt >= rest[0].createdAt).toBe(true);
  });

  it('makes the first key once, however many platforms start at the same time', async () => {
    const fresh = await testDatabase();
    const made = await Promise.all([1, 2, 3, 4].map(() => createFirstKey(confine(fresh.callerPool, '*'))));
    const keys = made.filter((one) => one !== null);
    expect(keys.map(({ key }) => [key.projectId, key.roles])).toEqual([[null, ['admin']]]);
    expect(await createFirstKey(confine(fresh.callerPool, '*'))).toBeNull();
    await fresh.drop();
  });
});
