import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { MIGRATIONS } from '#migrations';
import { Authenticator } from '#lib/access';
import { openPool, openSegmentStore, type Pool } from '#lib/storage';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aKey } from '../../../../test/support/rows.js';
import { UNUSED_PORTS } from '../../../../test/support/unused-ports.js';
import { createApi } from '../api.js';
import { Drain } from '../http/drain.js';

let db: TestDatabase;
let pool: Pool;
let platform: Pool;
let folder: string;
let app: NestFastifyApplication;
let key: string;

beforeAll(async () => {
  db = await testDatabase();
  key = await aKey(db.ownerPool, { project: null, roles: ['ingest'] });
});
afterAll(() => db?.drop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recredit-ready-'));
  pool = openPool(db.url, { role: 'recredit_app', size: 2 });
  platform = openPool(db.url, { role: 'recredit_app', projects: '*', size: 4 });
  const store = await openSegmentStore(pathToFileURL(join(folder, 'segments')).href);
  const ports = {
    ...UNUSED_PORTS,
    pool,
    platform,
    store,
    migrations: MIGRATIONS,
    authenticator: new Authenticator(pool),
  };
  app = await createApi(ports, pino({ level: 'silent' }));
});
afterEach(async () => {
  await app.close();
  await Promise.all([pool.end(), platform.end()]);
  await rm(folder, { recursive: true, force: true });
});

const ask = async (bearer: string | null = key) => {
  const headers = { ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const response = await app.getHttpAdapter().getInstance().inject({ url: '/readyz', headers });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
};

/** Every connection is cut and no new one is taken. */
async function whileRefusingConnections<T>(work: () => Promise<T>): Promise<T> {
  const administrator = openPool(inject('postgresUrl'), { size: 1 });
  const name = new URL(db.url).pathname.slice(1);
  try {
    await administrator.query(`alter database ${name} allow_connections false`);
    await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    return await work();
  } finally {
    await administrator.query(`alter database ${name} allow_connections true`);
    await administrator.end();
  }
}

const ok = { database: 'ok', migrations: 'ok', segments: 'ok', process: 'ok' };

it('is ready when all of it is there, for any key and nobody else', async () => {
  expect(await ask()).toMatchObject({ status: 200, body: { status: 'ready', checks: ok } });
  expect(await ask(null)).toMatchObject({ status: 401, body: { code: 'key.missing' } });
  expect((await ask(key.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).status).toBe(401);
});

it('says that the database is gone, also to whom nobody can look up any more', async () => {
  const { status, headers, body } = await whileRefusingConnections(ask);
  expect({ status, body }).toMatchObject({
    status: 503,
    body: { code: 'platform.unready', failing: ['database', 'migrations'], checks: { segments: 'ok', process: 'ok' } },
  });
  expect(headers['retry-after']).toBe('1');
  expect(JSON.stringify(body)).not.toContain(folder);
  await expect.poll(async () => (await ask()).status, { timeout: 20_000 }).toBe(200);
});

it('says which migrations the database lacks, and which it has beyond this version', async () => {
  const { rows } = await db.ownerPool.query(`delete from schema_migration where name like 'Analysis%' returning *`);
  try {
    expect(await ask()).toMatchObject({
      status: 503,
      body: {
        failing: ['migrations'],
        checks: { database: 'ok', migrations: expect.stringMatching(/^not run: Analysis/) },
      },
    });
  } finally {
    const [{ id, timestamp, name }] = rows;
    await db.ownerPool.query(`insert into schema_migration (id, timestamp, name) values ($1, $2, $3)`, [
      id,
      timestamp,
      name,
    ]);
  }
  await db.ownerPool.query(`insert into schema_migration (timestamp, name) values (9, 'Later9')`);
  expect((await ask()).body.checks.migrations).toBe('of a newer version: Later9');
  await db.ownerPool.query(`delete from schema_migration where name = 'Later9'`);
  expect((await ask()).status).toBe(200);
});

it('says that segments cannot be written, and leaves nothing behind when they can', async () => {
  const segments = join(folder, 'segments');
  await rm(segments, { recursive: true });
  await writeFile(segments, 'a file where a folder was');
  expect(await ask()).toMatchObject({
    status: 503,
    body: { failing: ['segments'], checks: { segments: expect.stringMatching(/^cannot be written \(E/) } },
  });
});

it.runIf(process.getuid?.() !== 0)('says that the folder of segments is read-only', async () => {
  await chmod(join(folder, 'segments'), 0o500);
  expect((await ask()).body.checks.segments).toBe('cannot be written (EACCES)');
  await chmod(join(folder, 'segments'), 0o700);
});

it('says that it stops, while everything else is refused', async () => {
  await app.get(Drain).begin(0);
  expect(await ask()).toMatchObject({ status: 503, body: { failing: ['process'], checks: { process: 'stopping' } } });
  const http = app.getHttpAdapter().getInstance();
  const other = await http.inject({ url: '/v1/schema', headers: { authorization: `Bearer ${key}` } });
  expect([other.statusCode, other.headers.connection, other.json().code]).toEqual([503, 'close', 'platform.stopping']);
  expect((await http.inject({ url: '/healthz' })).statusCode).toBe(200);
});
