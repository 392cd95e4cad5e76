import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authenticator, confine, createKey, RateLimiter, type KeyLimits } from '#lib/access';
import { EventLog, headOf } from '#lib/event-log';
import { startRun } from '#lib/sdk';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { UNUSED_PORTS } from '../../../../test/support/unused-ports.js';
import { startApi, type Api } from '../api.js';

let db: TestDatabase;
let log: EventLog;
let api: Api;
/** what the limiter takes for now, in ms; null: what it is */
let stoodStillAt: number | null = null;

beforeAll(async () => {
  db = await testDatabase();
  log = new EventLog(db.pool, { notify: false });
  const authenticator = new Authenticator(db.callerPool);
  const limiter = new RateLimiter(
    { requestsPerSecond: 3, eventsPerSecond: null },
    () => stoodStillAt ?? performance.now(),
  );
  const ports = { ...UNUSED_PORTS, pool: db.callerPool, platform: db.pool, log, authenticator, limiter };
  const logger = pino({ level: 'silent' });
  api = await startApi(ports, { host: '127.0.0.1', port: 0, logger });
});
afterAll(async () => {
  await api?.close();
  await log?.close();
  await db?.drop();
});

const aKey = async (limits: Partial<KeyLimits> = {}) => {
  const everything = confine(db.callerPool, '*');
  const { key, text } = await createKey(everything, { projectId: null, name: 'limited', roles: ['admin'], ...limits });
  return { id: key.id, text };
};

const ask = (key: string) => fetch(`${api.url}/v1/schema`, { headers: { authorization: `Bearer ${key}` } });

async function statuses(key: string, requests: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: requests }, () => ask(key)));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  return answers.map(({ status }) => status);
}

it('refuses what comes too fast, says when to come again, and then takes it', async () => {
  const { text } = await aKey();
  stoodStillAt = performance.now();
  expect((await statuses(text, 30)).filter((status) => status === 200)).toHaveLength(6);
  const refused = await ask(text);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('content-type')).toContain('application/problem+json');
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(await refused.json()).toMatchObject({
    type: 'urn:recredit:rate.exceeded',
    status: 429,
    limit: 'requestsPerSecond',
    perSecond: 3,
    retryAfterSeconds: seconds,
  });
  stoodStillAt += 1000 * seconds;
  expect((await ask(text)).status).toBe(200);
  stoodStillAt = null;
});

it("takes the key's own limit before the platform's, and the next one within a second of the change", async () => {
  const admin = await aKey({ requestsPerSecond: 0 });
  const free = await aKey({ requestsPerSecond: 0 });
  expect(new Set(await statuses(free.text, 40))).toEqual(new Set([200]));
  const query = `mutation ($id: ID!) { limitApiKey(id: $id, limits: { requestsPerSecond: 1 }) { requestsPerSecond eventsPerSecond } }`;
  const answer = await fetch(`${api.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { id: free.id } }),
  });
  expect(await answer.json()).toEqual({ data: { limitApiKey: { requestsPerSecond: 1, eventsPerSecond: null } } });
  expect(await statuses(free.text, 40)).toContain(429);
  expect(new Set(await statuses(admin.text, 40))).toEqual(new Set([200]));
});

it('holds an SDK back that sends more events than its key may, and loses none of them', async () => {
  const { text } = await aKey({ requestsPerSecond: 0, eventsPerSecond: 400 });
  const spool = await mkdtemp(join(tmpdir(), 'recredit-limited-'));
  const run = await startRun({
    project: 'limited',
    name: 'limited',
    url: api.url,
    apiKey: text,
    spool,
    sealAt: { events: 200, bytes: 1e6 },
  });
  let waited = false;
  const TRAJECTORIES = 100;
  const TURNS = 15;
  for (let i = 0; i < TRAJECTORIES; i++) {
    const trajectory = run.trajectory({ group: 'g', trainingStep: 0 });
    for (let turn = 0; turn < TURNS; turn++) expect(trajectory.turn({ state: 's', action: 'a' }).accepted).toBe(true);
    trajectory.end({ outcomeReward: 1 });
  }
  const looking = setInterval(() => (waited ||= run.report().problem?.code === 'rate.exceeded'), 20);
  const report = await run.end({ deadlineMs: 50_000 });
  clearInterval(looking);
  await rm(spool, { recursive: true, force: true });
  expect(report).toMatchObject({ unsent: 0, refused: 0 });
  expect(waited).toBe(true);
  const events = TRAJECTORIES * (TURNS + 1) + 2; // run.started and run.ended
  expect(await headOf(db.pool, report.run ?? '')).toBe(events);
});
