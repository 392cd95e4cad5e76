import { gzipSync, zstdCompressSync } from 'node:zlib';
import { Authenticator, createKey, ensureProject, confine } from '#lib/access';
import { EventLog, readEvents } from '#lib/event-log';
import { openPool } from '#lib/storage';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { UNUSED_PORTS } from '../../../../test/support/unused-ports.js';
import { createApi } from '../api.js';

const AT = '2026-11-21T12:00:00Z';
const turn = (n: number) => ({ type: 'turn.recorded', at: AT, trajectory: 't', group: 'g', trainingStep: 0, turn: n });
const lines = (...events: unknown[]) => Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));

let db: TestDatabase;
let app: NestFastifyApplication;
let log: EventLog;
let keys: Record<'trainer' | 'reader' | 'stranger' | 'admin', string>;
let pool: ReturnType<typeof openPool>;

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool(db.url, { role: 'recredit_app', size: 4 });
  log = new EventLog(db.pool);
  const everything = confine(pool, '*');
  const [ours, theirs] = await Promise.all(['ours', 'theirs'].map((name) => ensureProject(everything, name)));
  const key = async (projectId: string | null, role: 'ingest' | 'read' | 'admin') =>
    (await createKey(everything, { projectId, name: role, roles: [role] })).text;
  keys = {
    trainer: await key(ours.id, 'ingest'),
    reader: await key(ours.id, 'read'),
    stranger: await key(theirs.id, 'ingest'),
    admin: await key(null, 'admin'),
  };
  const ports = { ...UNUSED_PORTS, pool, platform: db.pool, log, authenticator: new Authenticator(pool) };
  app = await createApi(ports, pino({ level: 'silent' }));
});

afterAll(async () => {
  await app?.close();
  await log?.close();
  await pool?.end();
  await db?.drop();
});

const http = () => app.getHttpAdapter().getInstance();

async function send(method: 'GET' | 'POST', url: string, key: string | null, headers: object = {}, payload?: object) {
  const response = await http().inject({
    method,
    url,
    headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers },
    ...(payload && { payload }),
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

async function createRun(name: string, key = keys.trainer, rest: object = {}) {
  const { body } = await send('POST', '/v1/runs', key, {}, { project: 'ours', name, ...rest });
  return body.id as string;
}

interface Sending extends Record<string, string | number | undefined> {
  key?: string;
  epoch?: number;
}

const append = (
  run: string,
  sequence: number,
  payload: Buffer,
  { key = keys.trainer, epoch = 0, ...headers }: Sending = {},
) =>
  send(
    'POST',
    `/v1/runs/${run}/events`,
    key,
    {
      'content-type': 'application/x-ndjson',
      'recredit-producer': 'p',
      'recredit-epoch': String(epoch),
      'recredit-sequence': String(sequence),
      ...headers,
    },
    payload,
  );

describe('creating a run', () => {
  it('gives the same run for the same request, and begins its stream once', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => createRun('same')));
    expect(new Set(all).size).toBe(1);
    const events = await readEvents(db.pool, all[0], 0);
    expect(events.map(({ event }) => event.type)).toEqual(['run.started']);
  });

  it('refuses the name to another request', async () => {
    await createRun('taken', keys.trainer, { config: { lr: 1 } });
    const other = await send(
      'POST',
      '/v1/runs',
      keys.trainer,
      {},
      { project: 'ours', name: 'taken', config: { lr: 2 } },
    );
    expect(other).toMatchObject({ status: 409, body: { code: 'run.conflicting' } });
  });

  it.each([
    [{ project: 'ours' }],
    [{ project: 'ours', name: 'a\u0000' }],
    [{ project: 'ours', name: 'x', config: { note: 'a\u0000' } }],
    [{ project: 'ours', name: 'x', mood: 1 }],
  ])('refuses %j', async (body) => {
    const answer = await send('POST', '/v1/runs', keys.trainer, {}, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'request.invalid', status: 400 } });
    expect(answer.headers['content-type']).toContain('application/problem+json');
  });
});

describe('appending a batch', () => {
  it('stores it, knows it again, and refuses another content, a gap and an old epoch', async () => {
    const run = await createRun('four-answers');
    const batch = lines(turn(0), turn(1));
    expect(await append(run, 0, batch)).toMatchObject({
      status: 200,
      body: { firstPosition: 1, eventCount: 2, duplicate: false },
    });
    expect(await append(run, 0, batch)).toMatchObject({ status: 200, body: { firstPosition: 1, duplicate: true } });
    expect(await append(run, 0, lines(turn(5)))).toMatchObject({ status: 409, body: { code: 'batch.conflicting' } });
    expect(await append(run, 3, lines(turn(2)))).toMatchObject({
      status: 409,
      body: { code: 'sequence.unexpected', expected: 1 },
    });
    expect(await append(run, 1, lines(turn(2)), { epoch: 2 })).toMatchObject({
      status: 200,
      body: { firstPosition: 3 },
    });
    expect(await append(run, 2, lines(turn(3)))).toMatchObject({ status: 409, body: { code: 'producer.fenced' } });
  });

  it('reads gzip and zstd, and refuses any other encoding', async () => {
    const run = await createRun('encodings');
    const batch = lines(turn(0));
    expect(await append(run, 0, gzipSync(batch), { 'content-encoding': 'gzip' })).toMatchObject({ status: 200 });
    expect(await append(run, 1, zstdCompressSync(batch), { 'content-encoding': 'zstd' })).toMatchObject({
      status: 200,
    });
    expect(await append(run, 2, batch, { 'content-encoding': 'br' })).toMatchObject({
      status: 415,
      body: { code: 'encoding.unknown' },
    });
    expect(await append(run, 2, batch, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      body: { code: 'request.invalid' },
    });
  });

  it('cuts a decompression bomb off', async () => {
    const run = await createRun('bomb');
    const bomb = zstdCompressSync(Buffer.alloc(100 * 1024 * 1024));
    expect(await append(run, 0, bomb, { 'content-encoding': 'zstd' })).toMatchObject({
      status: 413,
      body: { code: 'batch.too-large' },
    });
  });

  it('lists what is wrong, line by line, and stores nothing', async () => {
    const run = await createRun('bad-lines');
    const answer = await append(run, 0, lines(turn(0), { ...turn(1), reward: 'high' }, { type: 'no.such' }));
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'events.invalid', type: 'urn:recredit:events.invalid' },
    });
    expect(answer.body.issues).toMatchObject([
      { line: 2, pointer: '/reward', found: '"high"' },
      { line: 3, pointer: '/type', found: '"no.such"' },
    ]);
    expect(await readEvents(db.pool, run, 1)).toEqual([]);
  });

  it.each(['recredit-producer', 'recredit-epoch', 'recredit-sequence'])('needs the header %s', async (header) => {
    const run = await createRun('headers');
    const answer = await append(run, 0, lines(turn(0)), { [header]: '' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'request.invalid' } });
    expect(String(answer.body.detail).toLowerCase()).toContain(header);
  });
});

describe('keys', () => {
  it.each(['/v1/schema', '/readyz', '/nowhere', '/'])('%s says nothing without a key', async (url) => {
    expect(await send('GET', url, null)).toMatchObject({ status: 401, body: { code: 'key.missing' } });
    expect(await send('GET', url, 'rk_no_such')).toMatchObject({ status: 401, body: { code: 'key.invalid' } });
  });

  it('/healthz answers without one', async () => {
    expect(await send('GET', '/healthz', null)).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it("do not reach another project's runs, nor learn that they exist", async () => {
    const run = await createRun('private');
    expect(await append(run, 0, lines(turn(0)), { key: keys.stranger })).toMatchObject({
      status: 404,
      body: { code: 'run.unknown' },
    });
    await append(run, 0, lines(turn(0)));
    // also now that the run is known to this process
    expect(await append(run, 1, lines(turn(1)), { key: keys.stranger })).toMatchObject({
      status: 404,
      body: { code: 'run.unknown' },
    });
    const theirs = await send('POST', '/v1/runs', keys.stranger, {}, { project: 'ours', name: 'private' });
    expect(theirs).toMatchObject({ status: 404, body: { code: 'project.unknown' } });
  });

  it('may do what their roles say', async () => {
    const run = await createRun('roles');
    expect(await append(run, 0, lines(turn(0)), { key: keys.reader })).toMatchObject({
      status: 403,
      body: { code: 'role.missing' },
    });
    expect(await append(run, 0, lines(turn(0)), { key: keys.admin })).toMatchObject({ status: 200 });
  });
});

it('answers an unknown path with a problem, not with HTML', async () => {
  expect(await send('GET', '/nowhere', keys.reader)).toMatchObject({ status: 404, body: { status: 404 } });
});
