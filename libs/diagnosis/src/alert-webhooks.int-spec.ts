import { fork, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { confine } from '#lib/access';
import type { Diagnosis } from '#lib/diagnostics';
import { Queue } from '#lib/queue';
import {
  createWebhook,
  deleteWebhook,
  deliverAgain,
  deliverWebhookJob,
  MAX_WEBHOOKS,
  undelivered,
} from '#lib/webhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { raiseAlerts } from './alerts.js';

interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** As the platform's, without the waiting. */
const quickJob = { ...deliverWebhookJob, name: 'deliver-webhook-quickly', retryDelaySeconds: 0, retryLimit: 3 };
const patientJob = { ...deliverWebhookJob, name: 'deliver-webhook-patiently', retryDelaySeconds: 1 };

let db: TestDatabase;
let queue: Queue;
let project: string;
let run: string;
let receiver: Server;
let port: number;
let received: Received[];
/** what the receiver does, request by request; then it takes all */
let answers: ((response: ServerResponse) => void)[];
const children: ChildProcess[] = [];

beforeAll(async () => {
  db = await testDatabase();
  queue = new Queue(db.url);
  await queue.start();
  await queue.work(quickJob, { pool: db.pool, timeoutMs: 1000 });
  await queue.work(patientJob, { pool: db.pool, timeoutMs: 1000 });
});

afterAll(async () => {
  await queue?.stop({ patienceMs: 2000 });
  await db?.drop();
});

beforeEach(async () => {
  project = await aProject(db.ownerPool, 'agents');
  run = await aRun(db.ownerPool, { project, name: 'first try' });
  received = [];
  answers = [];
  await listen(0);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await hangUp();
  await db.ownerPool.query('delete from webhook_delivery');
  await db.ownerPool.query('delete from webhook');
  await db.ownerPool.query(`update project set name = id where id = $1`, [project]);
});

async function listen(wanted: number): Promise<void> {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      received.push({ headers: Object.fromEntries(headers), body });
      const answer = answers.shift() ?? ((taken: ServerResponse) => taken.writeHead(204).end());
      answer(response);
    });
  });
  receiver.listen(wanted, '127.0.0.1');
  await once(receiver, 'listening');
  ({ port } = receiver.address() as AddressInfo);
}

async function hangUp(): Promise<void> {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
}

const says =
  (status: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end('x'.repeat(100_000));

const aWebhook = (url = `http://127.0.0.1:${port}/alerts`) =>
  createWebhook(confine(db.callerPool, [project]), { project, url });

const reading = (closedAt: number | null): Diagnosis => ({
  id: 'zero-variance-groups',
  values: {},
  reasons: {},
  sentence: 's',
  evidence: [],
  missing: [],
  failed: [],
  settings: {},
  steps: [],
  alerts: [
    {
      rule: 'most-silent',
      level: 'warn',
      says: 'most groups are silent',
      saw: { zeroVarianceShare: 0.8 },
      openedAt: 3,
      closedAt,
    },
  ],
});

const raise = (closedAt: number | null, asOf = 1) =>
  raiseAlerts(db.pool, run, { asOf, settingsVersion: 0, readings: [reading(closedAt)] });
const tell = async () => void (await queue.enqueue(quickJob, await undelivered(db.pool)));

async function deliveries() {
  const { rows } = await db.pool.query('select id, edge, state, tries from webhook_delivery order by number');
  return rows as {
    readonly id: string;
    readonly edge: string;
    readonly state: string;
    readonly tries: readonly { readonly status: number | null; readonly reason: string | null }[];
  }[];
}

type IsGenuine = (secret: string, headers: Received['headers'], body: string) => boolean;

/** The check that the guide gives to receivers. */
async function documented(): Promise<IsGenuine> {
  const guide = await readFile('docs/guides/alerts.md', 'utf8');
  const [, code] = /```js\n([\s\S]*?)```/.exec(guide)!;
  const { isGenuine }: { isGenuine: IsGenuine } = await import(
    /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`
  );
  return isGenuine;
}

const states = async () => (await deliveries()).map(({ edge, state }) => `${edge} ${state}`);
const reasons = async () => (await deliveries()).map(({ tries }) => tries.map(({ reason }) => reason));
const settled = (wanted: readonly string[], timeout = 20_000) => expect.poll(states, { timeout }).toEqual(wanted);

it('tells both edges, signed so that the receiver can verify it', async () => {
  const { webhook, secret } = await aWebhook();
  await raise(5);
  await tell();
  await settled(['opened delivered', 'closed delivered']);

  expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(['alert.opened', 'alert.closed']);
  const [{ headers, body }] = received;
  expect(JSON.parse(body).data).toEqual({
    alert: expect.any(String),
    project: { id: project, name: 'agents' },
    run: { id: run, name: 'first try' },
    diagnostic: 'zero-variance-groups',
    rule: 'most-silent',
    level: 'warn',
    says: 'most groups are silent',
    saw: { zeroVarianceShare: 0.8 },
    trainingStep: 3,
    asOf: 1,
  });
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']];
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  expect(key).toHaveLength(32);
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
  expect((await deliveries())[0].id).toBe(id);
  const isGenuine = await documented();
  expect(isGenuine(secret, headers, body)).toBe(true);
  expect(isGenuine(secret, headers, body.replace('warn', 'info'))).toBe(false);
  expect(isGenuine(secret, { ...headers, 'webhook-timestamp': String(Number(timestamp) - 1) }, body)).toBe(false);
  expect(JSON.stringify(webhook)).not.toContain(secret);
});

it('comes again after an error, a redirect and silence, with the same id and body, and keeps each try', async () => {
  await aWebhook();
  answers = [says(500), says(302, { location: `http://127.0.0.1:${port}/elsewhere` }), () => {}];
  await raise(null);
  await tell();
  await settled(['opened delivered']);
  expect(await reasons()).toEqual([
    ['it answered 500', 'a redirect (302) is not followed', 'no answer within 1 s', null],
  ]);
  expect(new Set(received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
  expect(received).toHaveLength(4);
});

it('comes again to a receiver that was away', async () => {
  await aWebhook();
  await hangUp();
  await raise(null);
  await queue.enqueue(patientJob, await undelivered(db.pool));
  await expect.poll(async () => (await reasons())[0][0], { timeout: 10_000 }).toBe('nobody listens there');
  await listen(port);
  await settled(['opened delivered']);
  expect(received).toHaveLength(1);
});

it('gives up in the end and says why; what comes next has tries of its own, and a person may ask for more', async () => {
  await aWebhook();
  answers = [says(400), says(400), says(400), says(400)];
  await raise(null);
  await tell();
  await settled(['opened failed']);
  expect(await reasons()).toEqual([Array.from({ length: 4 }, () => 'it answered 400')]);

  await raise(5, 2);
  await tell();
  await settled(['opened failed', 'closed delivered']);

  const [{ id }] = await deliveries();
  await queue.enqueue(quickJob, [await deliverAgain(confine(db.callerPool, [project]), id)]);
  await settled(['opened delivered', 'closed delivered']);
});

it('never tells of the closing before the opening', async () => {
  await aWebhook();
  answers = [says(503), says(503)];
  await raise(null);
  await raise(5, 2);
  await tell();
  await settled(['opened delivered', 'closed delivered']);
  expect(received.map(({ body }) => JSON.parse(body).type)).toEqual([
    'alert.opened',
    'alert.opened',
    'alert.opened',
    'alert.closed',
  ]);
});

it('tells webhooks of its own project, and not those that are deleted', async () => {
  const { webhook } = await aWebhook();
  await raise(null);
  await deleteWebhook(confine(db.callerPool, [project]), webhook.id);
  await raise(5, 2);
  const other = await aProject(db.ownerPool);
  await createWebhook(confine(db.callerPool, [other]), { project: other, url: `http://127.0.0.1:${port}/` });
  await tell();
  expect(await states()).toEqual(['opened failed']);
  expect(await undelivered(db.pool)).toEqual([]);
  const { rows } = await db.pool.query('select secret from webhook where id = $1', [webhook.id]);
  expect(rows).toEqual([{ secret: null }]);
});

it.each([
  ['ftp://example.com/', 'http or https was wanted, found ftp'],
  ['javascript:alert(1)', 'http or https was wanted, found javascript'],
  ['/alerts', 'a whole address'],
  ['https://me:geheim@example.com/', 'a name or password'],
  [`https://example.com/?${'x'.repeat(2000)}`, 'up to 2000 characters'],
])('refuses the address %s and does not repeat what is secret in it', async (url, why) => {
  const refused = await aWebhook(url).catch((error: Error) => error);
  expect(refused).toMatchObject({ code: 'request.invalid', message: expect.stringContaining(why) });
  expect((refused as Error).message).not.toContain('geheim');
});

it('makes so many webhooks of a project and no more', async () => {
  const made = await Promise.allSettled(Array.from({ length: MAX_WEBHOOKS + 3 }, () => aWebhook()));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_WEBHOOKS);
});

describe('a process that is killed', () => {
  function aProcess(...args: string[]): ChildProcess {
    const child = fork(new URL('../../../test/support/webhook-worker.ts', import.meta.url), [db.url, ...args], {
      execArgv: ['--import', new URL('../../../test/support/register-libs.mjs', import.meta.url).href],
    });
    children.push(child);
    return child;
  }

  it('between the edge and its telling loses nothing: whoever looks next tells it', async () => {
    await aWebhook();
    const [code, signal] = await once(aProcess('raise', run, JSON.stringify(reading(null))), 'exit');
    expect([code, signal]).toEqual([null, 'SIGKILL']);
    expect(await states()).toEqual(['opened pending']);
    await tell();
    await settled(['opened delivered']);
    expect(received).toHaveLength(1);
  });

  it('while it tells has told it, and another tells it again', async () => {
    await aWebhook();
    const doomed = aProcess('deliver');
    answers = [() => doomed.kill('SIGKILL')];
    await raise(null);
    await queue.enqueue(deliverWebhookJob, await undelivered(db.pool));
    await once(doomed, 'exit');
    expect(await states()).toEqual(['opened pending']);
    aProcess('deliver');
    await settled(['opened delivered'], 60_000);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([ids[0], ids[0]]);
  });
});
