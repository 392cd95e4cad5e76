import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlatformLog } from '../../../cli/src/platform-log.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aRun } from '../../../../test/support/rows.js';
import { testApi, type TestApi } from '../../../../test/support/api.js';

/** Stands in every place where a user may put text. */
const PLANTED = 'patient-zero-4711';

let api: TestApi;
let home: string;
const told: string[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'recredit-log-'));
  const { logger } = openPlatformLog(home, { level: 'trace', tell: (line) => void told.push(line) });
  api = await testApi({ logger });
});
afterAll(async () => {
  await api?.close();
  rmSync(home, { recursive: true, force: true });
});

interface Line {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly requestId?: string;
  readonly keyId?: string;
  readonly route?: string;
  readonly status?: number;
  readonly code?: string;
}

const text = () => readFileSync(join(home, 'recredit.log'), 'utf8');
const lines = () =>
  text()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

async function send(url: string, key: string, { headers = {}, payload }: { headers?: object; payload?: string } = {}) {
  const http = api.app.getHttpAdapter().getInstance();
  const method = payload === undefined ? 'GET' : 'POST';
  return http.inject({
    method,
    url,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload && { payload }),
  });
}

it('has a JSON line per request, with level, time, request and key, and nothing that a user sent', async () => {
  const key = await api.key(null, 'admin');
  const secret = key.split('_')[2];
  const run = await aRun(api.db.ownerPool);
  const batch = (sequence: number, ndjson: string, more: object = {}) => ({
    headers: {
      'content-type': 'application/x-ndjson',
      'recredit-producer': PLANTED,
      'recredit-epoch': '0',
      'recredit-sequence': String(sequence),
      ...more,
    },
    payload: ndjson,
  });
  const turn = {
    type: 'turn.recorded',
    at: '2026-01-01T00:00:00Z',
    trajectory: PLANTED,
    group: PLANTED,
    trainingStep: 0,
  };
  const good = `${JSON.stringify({ ...turn, turn: 0, state: PLANTED, action: PLANTED })}\n`;
  const graphql = (query: string) => ({
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ query, variables: { text: PLANTED } }),
  });

  expect((await send(`/v1/runs/${run}/events`, key, batch(0, good))).statusCode).toBe(200);
  expect((await send(`/v1/runs/${run}/events`, key, batch(1, `{"${PLANTED}": `))).statusCode).toBe(422);
  expect((await send(`/v1/runs/${run}/events`, key, batch(0, good.replace('"turn":0', '"turn":1')))).statusCode).toBe(
    409,
  );
  expect((await send(`/v1/runs/${run}/events`, key, batch(1, good, { 'content-encoding': PLANTED }))).statusCode).toBe(
    415,
  );
  expect((await send(`/${PLANTED}?key=${key}`, key)).statusCode).toBe(404);
  expect((await send('/graphql', key, graphql(`{ run(id: "${PLANTED}") { name } }`))).statusCode).toBe(200);
  expect((await send('/graphql', key, graphql(`{ ${PLANTED.replaceAll('-', '_')} }`))).statusCode).toBe(400);
  expect((await send('/v1/schema', `${key.slice(0, -48)}${'0'.repeat(48)}`)).statusCode).toBe(401);

  // an error of ours, with a cause that quotes what it stumbled over
  await api.db.ownerPool.query(`alter table run rename column config to "${PLANTED}"`);
  const failed = await send('/graphql', key, {
    ...graphql(`{ ${PLANTED.replaceAll('-', '_')}: runs(first: 1) { edges { node { config } } } }`),
    headers: { 'content-type': 'application/json', 'x-request-id': 'asked-by-a-test' },
  });
  await api.db.ownerPool.query(`alter table run rename column "${PLANTED}" to config`);
  expect(failed.headers['x-request-id']).toBe('asked-by-a-test');

  const all = text();
  expect(all).not.toContain(PLANTED);
  expect(all).not.toContain(PLANTED.replaceAll('-', '_'));
  expect(all).not.toContain(secret);
  expect(told.join('\n')).not.toContain(PLANTED);

  const requests = lines().filter(({ msg }) => msg === 'request');
  expect(requests).toHaveLength(9);
  const keyId = key.split('_')[1];
  for (const { level, time, requestId } of requests) {
    expect(level).toBeGreaterThan(0);
    expect(Math.abs(Date.now() - time)).toBeLessThan(60_000);
    expect(requestId).toMatch(/^[\w-]{8,}$/);
  }
  expect(requests.filter((line) => line.keyId === keyId)).toHaveLength(8); // the ninth had no valid key
  expect(requests[0]).toMatchObject({ level: 20, route: '/v1/runs/:run/events', status: 200 });
  expect(requests[1]).toMatchObject({ level: 30, status: 422, code: 'events.invalid' });
  const error = lines().find(({ level }) => level === 50);
  expect(error).toMatchObject({ msg: 'a field failed', requestId: 'asked-by-a-test', keyId, err: { code: '42703' } });
  expect(told.some((line) => line.startsWith('error: a field failed') && line.includes('asked-by-a-test'))).toBe(true);
});

it('takes no request id that could write a line of its own', async () => {
  const key = await api.key(null, 'admin');
  const headers = { 'x-request-id': 'x"}{"level":60,"msg":"forged' };
  const { headers: answered } = await send('/v1/schema', key, { headers });
  expect(answered['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});
