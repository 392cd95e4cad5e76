import { gzipSync, zstdCompressSync } from 'node:zlib';
import { Authenticator, confine, createKey, RateLimiter } from '#lib/access';
import { EventLog, headOf, readEvents, verifyRun } from '#lib/event-log';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject } from '../../../../test/support/rows.js';
import { jsonOf, NO_PARENT, protobufOf, shop, traced, tracedAgent } from '../../../../test/support/traced-agent.js';
import { wholeWayOf } from '../../../../test/support/whole-way.js';
import { UNUSED_PORTS } from '../../../../test/support/unused-ports.js';
import { startApi } from '../api.js';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };

let api: TestApi;
let way: Awaited<ReturnType<typeof wholeWayOf>>;
let runs = 0;
const aName = () => `traced-${runs++}`;

beforeAll(async () => {
  api = await testApi();
  way = await wholeWayOf(api);
});

afterEach(() => expect(api.logged.splice(0)).toEqual([]));
afterAll(() => api?.close());

const post = async (payload: Buffer | string, headers: Record<string, string> = PROTOBUF, key = way.key) => {
  const response = await api.app
    .getHttpAdapter()
    .getInstance()
    .inject({ method: 'POST', url: '/v1/traces', headers: { authorization: `Bearer ${key}`, ...headers }, payload });
  const type = String(response.headers['content-type']);
  const body = type.includes('json')
    ? response.json()
    : ProtobufTraceSerializer.deserializeResponse(new Uint8Array(response.rawPayload));
  return { status: response.statusCode, type, headers: response.headers, body };
};

async function runNamed(name: string): Promise<string> {
  const [run] = await confine(api.db.callerPool, '*').query<{ id: string }>('select id from run where name = $1', [
    name,
  ]);
  return run?.id;
}

const eventsOf = async (name: string) =>
  (await readEvents(api.db.pool, await runNamed(name), 0)).map(({ event }) => event);

/** Rollouts of an agent of that service. */
function rollouts(service: string, ...attributes: Parameters<typeof shop>[1][]): ReadableSpan[] {
  const agent = tracedAgent({ 'service.name': service });
  for (const one of attributes) shop(agent.tracer, one);
  return agent.ended();
}

describe('an export', () => {
  it('of the official exporter becomes a run that can be read and analysed', async () => {
    const name = aName();
    const exporter = new OTLPTraceExporter({
      url: `${await api.listen()}/v1/traces`,
      headers: { authorization: `Bearer ${way.key}` },
      compression: 'gzip' as never,
    });
    const spans = rollouts(name, { 'recredit.outcome_reward': 1 }, { 'recredit.outcome_reward': 0 });
    const result = await new Promise<{ code: number; error?: Error }>((done) => exporter.export(spans, done));
    await exporter.shutdown();
    expect(result).toEqual({ code: 0 });
    const { trajectories, answer } = await way.follow(await runNamed(name), [{ id: 'grpo' }]);
    trajectories.sort((a, b) => b.outcomeReward - a.outcomeReward); // those of one export have no order
    expect(trajectories).toMatchObject([
      { state: 'FINISHED', outcomeReward: 1, turnCount: 2, problems: null },
      { state: 'FINISHED', outcomeReward: 0, turnCount: 2, problems: null },
    ]);
    expect(trajectories[0].group).toBe(trajectories[1].group);
    expect(trajectories[0].turns.edges[0].node).toMatchObject({
      state: 'user:How much is tea?',
      action: 'price{"in":"EUR","of":"tea"}',
    });
    expect(answer.comparison).toMatchObject({ groupsWithSignal: 1 });
  });

  it.each([
    ['protobuf', protobufOf, PROTOBUF, (bytes: Buffer) => bytes],
    ['JSON', jsonOf, JSON_TYPE, (bytes: Buffer) => bytes],
    ['protobuf with gzip', protobufOf, { ...PROTOBUF, 'content-encoding': 'gzip' }, gzipSync],
    ['JSON with gzip', jsonOf, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync],
    [
      'JSON with zstd',
      jsonOf,
      { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'zstd' },
      zstdCompressSync,
    ],
  ] as const)('in %s is taken, and adds nothing when it comes again in any form', async (_, form, headers, packed) => {
    const name = aName();
    const spans = rollouts(name, {}, {});
    const first = await post(packed(form(spans)), headers);
    expect(first).toMatchObject({
      status: 200,
      type: expect.stringContaining(headers['content-type'].split(';')[0]),
      body: {},
    });
    expect(first.body.partialSuccess ?? undefined).toBeUndefined();
    const run = await runNamed(name);
    const head = await headOf(api.db.pool, run);
    expect(head).toBe(3); // run.started and two trajectories
    await post(protobufOf(spans));
    await post(jsonOf(spans), JSON_TYPE);
    await post(protobufOf(spans.slice(0, 5))); // the first trajectory alone
    expect(await headOf(api.db.pool, run)).toBe(head);
    expect((await verifyRun(api.db.pool, run)).broken).toBeNull();
  });

  it('that several processes send at once is stored once', async () => {
    const name = aName();
    const bytes = protobufOf(rollouts(name, ...Array.from({ length: 20 }, () => ({}))));
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(bytes)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await eventsOf(name)).toHaveLength(21);
  });

  it('of nothing is taken', async () => {
    expect(await post(Buffer.alloc(0))).toMatchObject({ status: 200 });
    expect(await post('{}', JSON_TYPE)).toMatchObject({ status: 200, body: {} });
    expect(await post('{"resourceSpans":[{"scopeSpans":[{"spans":[]}]}]}', JSON_TYPE)).toMatchObject({ body: {} });
  });
});

describe('what is refused of an export is counted, with its reason', () => {
  const rejected = async (spans: ReadableSpan[]) => {
    const protobuf = await post(protobufOf(spans));
    const json = await post(jsonOf(spans), JSON_TYPE);
    expect([protobuf.status, json.status]).toEqual([200, 200]);
    const { rejectedSpans, errorMessage } = protobuf.body.partialSuccess ?? {};
    expect(json.body.partialSuccess).toEqual(rejectedSpans && { rejectedSpans: String(rejectedSpans), errorMessage });
    return [Number(rejectedSpans ?? 0), errorMessage];
  };

  it('a trace that comes in pieces, its root as well, until it comes whole', async () => {
    const name = aName();
    const spans = rollouts(name, {});
    const apart = expect.stringContaining('send a trace whole');
    expect(await rejected(spans.slice(0, 2))).toEqual([2, apart]);
    expect(await rejected(spans.slice(2))).toEqual([3, expect.stringContaining('it would be incomplete')]);
    expect(await runNamed(name)).toBeUndefined();
    expect(await rejected(spans)).toEqual([0, undefined]);
    expect(await eventsOf(name)).toHaveLength(2);
  });

  it('spans that come late, to a trajectory that is recorded', async () => {
    const name = aName();
    const spans = rollouts(name, {});
    expect(await rejected(spans.slice(1))).toEqual([0, undefined]);
    expect(await rejected(spans.slice(0, 1))).toEqual([1, expect.stringContaining('send a trace whole')]);
    expect(await rejected(spans)).toEqual([5, expect.stringMatching(/is recorded already, with other spans/)]);
    expect(await eventsOf(name)).toHaveLength(2);
  });

  it('what is no trajectory, beside those that are', async () => {
    const name = aName();
    const spans = rollouts(
      name,
      {},
      { 'recredit.training_step': 0.5 },
      { 'recredit.group': 'a\u0000b' },
      { 'recredit.project': 'nobody' },
    );
    const [count, why] = await rejected(spans);
    expect(count).toBe(15);
    expect(why.split('; ')).toEqual([
      expect.stringMatching(/^5 spans: events\.invalid: .*group/),
      expect.stringMatching(/^5 spans: events\.invalid: .*trainingStep/),
      expect.stringMatching(/^5 spans: project\.unknown: /),
    ]);
    expect(await eventsOf(name)).toHaveLength(2);
  });

  it('runs under names that are none', async () => {
    const spans = rollouts('x', { 'recredit.run': 'a\u0000b' }, { 'recredit.run': 'x'.repeat(600) });
    expect(await rejected(spans)).toEqual([10, expect.stringContaining('request.invalid')]);
  });
});

describe('where a trajectory goes', () => {
  it('into the run of that name or id, as a trainer made it', async () => {
    const name = aName();
    const run = await way.createRun(name);
    await post(protobufOf(rollouts('service', { 'recredit.run': name }, { 'recredit.run': run })));
    expect(await headOf(api.db.pool, run)).toBe(3);
  });

  it('into a project of its own name, for a key that sees all', async () => {
    const all = await api.key(null, 'ingest');
    const project = aName();
    const name = aName();
    const answer = await post(protobufOf(rollouts(name, { 'recredit.project': project }, {})), PROTOBUF, all);
    expect(answer.status).toBe(200);
    const found = await confine(api.db.callerPool, '*').query<{ project: string }>(
      'select project.name as project from run join project on project.id = run.project_id where run.name = $1 order by 1',
      [name],
    );
    expect(found.map((row) => row.project)).toEqual(['default', project]);
  });

  it('nowhere without a key, or with one that may not', async () => {
    const bytes = protobufOf(rollouts('x', {}));
    expect(await post(bytes, PROTOBUF, 'rk_no_key')).toMatchObject({ status: 401 });
    const reader = await api.key(null, 'read', 'analyze');
    expect(await post(bytes, PROTOBUF, reader)).toMatchObject({ status: 403, body: { code: 'role.missing' } });
  });

  it('a key of one project never reaches another', async () => {
    const other = await api.key(await aProject(api.db.ownerPool), 'ingest');
    const name = aName();
    const theirs = await post(protobufOf(rollouts(name, { 'recredit.project': 'odd' })), PROTOBUF, other);
    expect(theirs.body.partialSuccess).toMatchObject({ errorMessage: expect.stringContaining('project.unknown') });
    expect(await runNamed(name)).toBeUndefined();
  });
});

describe('bad input', () => {
  const good = protobufOf(rollouts('bad', {}));
  const deep = (levels: number) =>
    `{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(levels)}{"intValue":1}${']}}'.repeat(levels)}}]}}]}`;
  const BAD: Record<string, readonly [Buffer | string, Record<string, string>, number]> = {
    'half a message': [good.subarray(0, good.length - 9), PROTOBUF, 400],
    'JSON said to be protobuf': ['{"resourceSpans":[]}', PROTOBUF, 400],
    'protobuf said to be JSON': [good, JSON_TYPE, 400],
    'half JSON': ['{"resourceSpans":[', JSON_TYPE, 400],
    'a list': ['[]', JSON_TYPE, 400],
    null: ['null', JSON_TYPE, 400],
    'nothing as JSON': ['', JSON_TYPE, 400],
    'spans that are no list': ['{"resourceSpans":{}}', JSON_TYPE, 400],
    'an attribute that is no pair': ['{"resourceSpans":[{"resource":{"attributes":[1]}}]}', JSON_TYPE, 400],
    'a time that is none': [
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"noon"}]}]}]}',
      JSON_TYPE,
      400,
    ],
    'attributes nested 1,000 deep': [deep(1_000), JSON_TYPE, 400],
    'JSON nested 100,000 deep': ['['.repeat(100_000), JSON_TYPE, 400],
    'text that is not UTF-8': [Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE, 400],
    'another type': ['x', { 'content-type': 'text/plain' }, 415],
    'no type': ['x', {}, 415],
    NDJSON: ['{}\n', { 'content-type': 'application/x-ndjson' }, 415],
    'another encoding': [good, { ...PROTOBUF, 'content-encoding': 'br' }, 415],
    'gzip that is none': [good, { ...PROTOBUF, 'content-encoding': 'gzip' }, 400],
    'half a gzip': [gzipSync(good).subarray(0, 40), { ...PROTOBUF, 'content-encoding': 'gzip' }, 400],
    'a decompression bomb': [
      gzipSync(Buffer.alloc(64 * 1024 * 1024)),
      { ...PROTOBUF, 'content-encoding': 'gzip' },
      413,
    ],
    'more than 16 MiB': [Buffer.alloc(16 * 1024 * 1024 + 1), PROTOBUF, 413],
    'more than 10,000 spans': [
      `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(10_000)}{}]}]}]}`,
      JSON_TYPE,
      413,
    ],
  };
  it.each(Object.entries(BAD))('%s is refused with its reason', async (_, [payload, headers, status]) => {
    const answer = await post(payload, headers);
    expect(answer.type).toContain('application/problem+json');
    expect(answer).toMatchObject({ status, body: { status, code: expect.any(String), detail: expect.any(String) } });
    expect(JSON.stringify(answer.body).length).toBeLessThan(2_000);
  });

  it('10,000 spans without ids are refused one by one', async () => {
    const answer = await post(`{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(9_999)}{}]}]}]}`, JSON_TYPE);
    expect(answer).toMatchObject({ status: 200, body: { partialSuccess: { rejectedSpans: '10000' } } });
  });

  it('other routes still read their JSON, and refuse what is no JSON', async () => {
    expect(await way.send('/v1/runs', '{"project":', JSON_TYPE)).toMatchObject({ status: 400 });
    expect(await way.send('/v1/runs', 'x', PROTOBUF)).toMatchObject({ status: 415 });
  });
});

it('a key that sends too fast is asked to wait, and adds nothing twice when it comes again', async () => {
  const everything = confine(api.db.callerPool, '*');
  const limits = { requestsPerSecond: null, eventsPerSecond: 2 };
  const { text } = await createKey(everything, { projectId: null, name: 'slow', roles: ['ingest'], ...limits });
  const log = new EventLog(api.db.pool, { notify: false });
  const limiter = new RateLimiter({ requestsPerSecond: null, eventsPerSecond: null });
  const authenticator = new Authenticator(api.db.callerPool);
  const ports = { ...UNUSED_PORTS, pool: api.db.callerPool, platform: api.db.pool, log, authenticator, limiter };
  const slow = await startApi(ports, {
    host: '127.0.0.1',
    port: 0,
    logger: pino({ level: 'silent' }),
  });
  const name = aName();
  const exported = [0, 1].map(() => protobufOf(rollouts(name, ...Array.from({ length: 10 }, () => ({})))));
  const send = (bytes: Buffer) =>
    fetch(`${slow.url}/v1/traces`, {
      method: 'POST',
      headers: { ...PROTOBUF, authorization: `Bearer ${text}` },
      body: new Uint8Array(bytes),
    });
  try {
    expect((await send(exported[0])).status).toBe(200);
    const refused = await send(exported[1]);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.json()).toMatchObject({ code: 'rate.exceeded', limit: 'eventsPerSecond' });
    await expect.poll(async () => (await send(exported[1])).status, { timeout: 30_000, interval: 1_000 }).toBe(200);
    expect(await eventsOf(name)).toHaveLength(21);
  } finally {
    await slow.close();
    await log.close();
  }
});

it('a deep tree of agents is one trajectory', async () => {
  const name = aName();
  const agent = tracedAgent({ 'service.name': name });
  const inner = (depth: number) => (parent: typeof NO_PARENT) =>
    depth === 0
      ? shop(agent.tracer, {}, 'Tea?', parent)
      : traced(agent.tracer, parent, 'invoke_agent', { at: 0, ms: 200, attributes: { 'gen_ai.operation.name': 'invoke_agent' } }, inner(depth - 1)); // prettier-ignore
  inner(50)(NO_PARENT);
  await post(protobufOf(agent.ended()));
  expect(await eventsOf(name)).toMatchObject([{}, { turns: [{}, {}] }]);
});
