import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Authenticator, confine, createFirstKey, ensureProject, registerRun } from '#lib/access';
import { defineJob, Queue } from '#lib/queue';
import { MIGRATIONS } from '../../../migrations/index.js';
import { databaseUrl } from '../../../test/support/database-url.js';
import { hasDebianPostgres, startDebianPostgres } from '../../../test/support/debian-postgres.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { runMigrations } from './migrate.js';
import { openPool, type Pool } from './pool.js';

/** The servers an operator may name, each given as its administrator's url. */
const SERVERS = [
  {
    server: 'the embedded PostgreSQL 18',
    there: true,
    start: startEmbedded,
  },
  { server: 'PostgreSQL 15 of Debian', there: hasDebianPostgres, start: startDebianPostgres },
];

/** One of its own: on the one that the specs share the role is there already. */
async function startEmbedded() {
  const home = await mkdtemp(join(tmpdir(), 'recredit-home-'));
  const server = await startEmbeddedPostgres({ home, port: 0, durable: false });
  return { url: server.url, stop: () => server.stop().then(() => rm(home, { recursive: true })) };
}

/** A user who owns a database and may create roles, as a managed server gives it: no superuser. */
async function aPlainOwner(adminUrl: string, name: string): Promise<string> {
  const admin = openPool(adminUrl, { size: 1 });
  await admin.query(`create role ${name} login createrole password 'plain'`);
  await admin.query(`create database ${name} owner ${name}`);
  await admin.end();
  const url = new URL(databaseUrl(adminUrl, name));
  [url.username, url.password] = [name, 'plain'];
  return url.href;
}

for (const { server, there } of SERVERS)
  if (!there) console.warn(`${server} is not on this machine: not tested against it`);

describe.each(SERVERS.filter(({ there }) => there))('on $server, owned by a plain user', ({ start }) => {
  let adminUrl: string;
  let url: string;
  let stop: () => Promise<void>;
  const pools: Pool[] = [];
  const aPool = (...args: Parameters<typeof openPool>) => {
    const pool = openPool(...args);
    pools.push(pool);
    return pool;
  };
  beforeAll(async () => {
    ({ url: adminUrl, stop } = await start());
    url = await aPlainOwner(adminUrl, 'plain_owner');
    await runMigrations(url, MIGRATIONS);
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    const admin = openPool(adminUrl, { size: 1 });
    await admin.query('drop database plain_owner with (force)');
    await admin.end();
    await stop();
  });

  it('the application works as its role, confined', async () => {
    const pool = aPool(url, { role: 'recredit_app' });
    expect((await pool.query('select current_user as me, session_user as login')).rows).toEqual([
      { me: 'recredit_app', login: 'plain_owner' },
    ]);
    const all = confine(pool, '*');
    const first = await createFirstKey(all);
    const authenticator = new Authenticator(pool);
    expect(await authenticator.authenticate(`Bearer ${first?.text}`)).toMatchObject({ projects: '*' });
    const [a, b] = await Promise.all(['a', 'b'].map((name) => ensureProject(all, name)));
    await registerRun(all, { project: 'a', name: 'run' });
    const seenBy = (project: string) => confine(pool, [project]).query('select name from run');
    expect([await seenBy(a.id), await seenBy(b.id)]).toEqual([[{ name: 'run' }], []]);
    await expect(pool.query('delete from run')).rejects.toThrow('permission denied');
  });

  it('the queue runs jobs', async () => {
    const ran: number[] = [];
    const queue = new Queue(url);
    await queue.start();
    const job = defineJob({
      name: 'count',
      payload: z.strictObject({ n: z.number() }),
      key: ({ n }) => String(n),
      retryLimit: 0,
      run: async ({ n }, ports: number[]) => void ports.push(n),
    });
    await queue.work(job, ran);
    const app = aPool(url, { role: 'recredit_app' });
    expect(await queue.enqueue(job, [{ n: 1 }, { n: 2 }], { transaction: app })).toBe(2);
    await expect.poll(() => ran.toSorted((x, y) => x - y)).toEqual([1, 2]);
    await queue.stop();
  });

  it('a second database of the server, with another owner, is told what its administrator must grant', async () => {
    const other = await aPlainOwner(adminUrl, 'other_owner');
    const admin = openPool(adminUrl, { size: 1 });
    const { rows } = await admin.query(`select current_setting('server_version_num')::int >= 160000 as modern`);
    if (rows[0].modern) {
      // until 15 whoever may create roles may also grant those of others
      await expect(runMigrations(other, MIGRATIONS)).rejects.toMatchObject({
        code: 'database.unavailable',
        message: expect.stringContaining('as administrator run: grant recredit_app to other_owner'),
      });
      await admin.query('grant recredit_app to other_owner');
      await expect(runMigrations(other, MIGRATIONS)).rejects.toMatchObject({
        message: expect.stringContaining('as administrator run: grant recredit_eraser to other_owner'),
      });
      await admin.query('grant recredit_eraser to other_owner');
    }
    await runMigrations(other, MIGRATIONS);
    const pool = openPool(other, { role: 'recredit_app', size: 1 });
    expect((await pool.query('select current_user as me')).rows).toEqual([{ me: 'recredit_app' }]);
    await pool.end();
    await admin.query('drop database other_owner with (force)');
    await admin.end();
  });
});
