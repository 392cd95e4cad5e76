import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authenticator, confine, createKey, revokeKey } from '#lib/access';
import { openPool } from '#lib/storage';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { UNUSED_PORTS } from '../../../../test/support/unused-ports.js';
import { createApi } from '../api.js';

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const OURS = { 'recredit-csrf': '1', 'content-type': 'application/json' };
const QUERY = { query: '{ runs { edges { node { id } } } }' };

let db: TestDatabase;
let pool: ReturnType<typeof openPool>;
let app: NestFastifyApplication;
let root: string;
let key: string;

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool(db.url, { role: 'recredit_app', size: 4 });
  root = mkdtempSync(join(tmpdir(), 'recredit-dashboard-'));
  mkdirSync(join(root, 'assets'));
  writeFileSync(join(root, 'index.html'), '<!doctype html><title>Recredit</title>');
  writeFileSync(join(root, 'assets', 'main-abc123.js'), 'export {}');
  key = (await createKey(confine(pool, '*'), { projectId: null, name: 'reader', roles: ['read'] })).text;
  app = await createApi(portsOf(), pino({ level: 'silent' }), root);
});

afterAll(async () => {
  await app?.close();
  await pool?.end();
  await db?.drop();
  rmSync(root, { recursive: true, force: true });
});

const portsOf = () => ({ ...UNUSED_PORTS, pool, platform: db.pool, authenticator: new Authenticator(pool) });
const http = () => app.getHttpAdapter().getInstance();
const get = (url: string, headers: Record<string, string> = {}) => http().inject({ method: 'GET', url, headers });
const ask = (headers: Record<string, string>) =>
  http().inject({ method: 'POST', url: '/graphql', headers, payload: JSON.stringify(QUERY) });
const signIn = (text: string, headers: Record<string, string> = OURS) =>
  http().inject({ method: 'POST', url: '/session', headers, payload: JSON.stringify({ key: text }) });

async function cookie(): Promise<string> {
  return String((await signIn(key)).headers['set-cookie']).split(';', 1)[0];
}

describe('the shell', () => {
  it.each(['/', '/runs', '/runs/a%2Fb/trajectories/c'])('answers a browser at %s without a key', async (url) => {
    const { statusCode, headers, body } = await get(url, PAGE);
    expect([statusCode, body]).toEqual([200, '<!doctype html><title>Recredit</title>']);
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['cache-control']).toBe('no-cache');
  });

  it.each(['/v1/schema', '/v1/nowhere', '/readyz', '/graphql'])('is not what %s is for', async (url) => {
    const { statusCode, body } = await get(url, PAGE);
    expect(body).not.toContain('doctype');
    expect(statusCode).toBe(401);
  });

  it('is for browsers only', async () => {
    for (const url of ['/', '/runs']) expect((await get(url, { accept: 'application/json' })).statusCode).toBe(401);
    const known = await get('/runs', { authorization: `Bearer ${key}` });
    expect([known.statusCode, known.json().code]).toEqual([404, 'request.invalid']);
  });

  it('has files that are kept for ever, and nothing outside its folder', async () => {
    const { statusCode, headers } = await get('/assets/main-abc123.js');
    expect([statusCode, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    for (const path of ['/assets/gone.js', '/assets/../index.html', '/assets/%2e%2e/%2e%2e/etc/passwd']) {
      const answer = await get(path);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(String(answer.headers['cache-control'])).not.toContain('immutable');
    }
  });

  it('is absent where none was built', async () => {
    const bare = await createApi(portsOf(), pino({ level: 'silent' }), join(root, 'no-such-folder'));
    const answer = await bare.getHttpAdapter().getInstance().inject({ method: 'GET', url: '/', headers: PAGE });
    expect(answer.statusCode).toBe(401);
    await bare.close();
  });
});

describe('a session', () => {
  it('begins with a key, in a cookie that no script sees', async () => {
    const answer = await signIn(key);
    expect(answer.json()).toMatchObject({ session: { roles: ['read'], allProjects: true } });
    expect(answer.headers['set-cookie']).toMatch(
      /^recredit_key=rk_\w+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
    );
    const overTls = await signIn(key, { ...OURS, 'x-forwarded-proto': 'https' });
    expect(overTls.headers['set-cookie']).toContain('; Secure');
  });

  it.each(['', 'rk_no_such', 'rk_1; Path=/evil', '\r\nset-cookie: a=b'])('refuses the key %j', async (wrong) => {
    const { statusCode, headers, body } = await signIn(wrong);
    expect([statusCode, headers['set-cookie']]).toEqual([401, undefined]);
    expect(JSON.parse(body)).toMatchObject({ code: 'key.invalid' });
  });

  it('asks as its key would', async () => {
    const answer = await ask({ ...OURS, cookie: await cookie() });
    expect(answer.json()).toEqual({ data: { runs: { edges: [] } } });
    expect((await get('/session', { cookie: await cookie() })).json()).toMatchObject({ session: { roles: ['read'] } });
    expect((await get('/session')).json()).toEqual({ session: null });
  });

  it('is of no use to another page', async () => {
    const another = { cookie: await cookie(), 'content-type': 'application/json' };
    expect((await ask(another)).statusCode).toBe(401);
    expect((await signIn(key, { 'content-type': 'application/json' })).statusCode).toBe(400);
    const signOut = await http().inject({ method: 'DELETE', url: '/session', headers: another });
    expect(signOut.statusCode).toBe(400);
  });

  it('ends', async () => {
    const answer = await http().inject({ method: 'DELETE', url: '/session', headers: { 'recredit-csrf': '1' } });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([204, expect.stringMatching(/=;.*Max-Age=0/)]);
  });

  it('ends with its key', async () => {
    const everything = confine(pool, '*');
    const made = await createKey(everything, { projectId: null, name: 'gone', roles: ['read'] });
    await revokeKey(everything, made.key.id);
    const headers = { cookie: `recredit_key=${made.text}` };
    expect((await get('/session', headers)).json()).toEqual({ session: null });
    expect((await ask({ ...OURS, ...headers })).statusCode).toBe(401);
  });
});
