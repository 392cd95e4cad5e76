import { gzipSync, zstdCompressSync } from 'node:zlib';
import { confine, revokeKey } from '#lib/access';
import { headOf, readEvents, verifyRun } from '#lib/event-log';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject } from '../../../../test/support/rows.js';
import { wholeWayOf, type Sent } from '../../../../test/support/whole-way.js';

const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let way: Awaited<ReturnType<typeof wholeWayOf>>;
let run: string;
let sequence = 0;

beforeAll(async () => {
  api = await testApi();
  way = await wholeWayOf(api);
  run = await way.createRun('bad');
});

/** Whatever was refused left nothing behind, and nothing was our fault. */
afterEach(async () => {
  expect(api.logged.splice(0)).toEqual([]);
  expect((await verifyRun(api.db.pool, run)).broken).toBeNull();
});

afterAll(() => api?.close());

const turn = (n: number, rest: object = {}) => ({
  type: 'turn.recorded',
  at: AT,
  trajectory: 't',
  group: 'g',
  trainingStep: 0,
  turn: n,
  ...rest,
});
const whole = { type: 'trajectory.recorded', at: AT, id: 'whole', group: 'g', trainingStep: 0, outcomeReward: 1 };
const line = (event: unknown) => `${JSON.stringify(event)}\n`;
/** A turn with a field that is spelled out, as JSON.stringify would not. */
const spelled = (field: string, n = 0) => `${JSON.stringify(turn(n)).slice(0, -1)},${field}}\n`;
const repeated = (text: string, times: number) => Buffer.alloc(text.length * times, text);

async function refused(payload: Buffer | string, headers: Record<string, string> = {}): Promise<Sent> {
  const before = await headOf(api.db.pool, run);
  const answer = await way.append(run, sequence, payload, headers);
  if (answer.status === 200) sequence++; // so that the tests after this one mean what they say
  expect(await headOf(api.db.pool, run)).toBe(before);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.type).toContain('application/problem+json');
  expect(answer.body).toMatchObject({ status: answer.status, code: expect.any(String), detail: expect.any(String) });
  expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
  return answer;
}

async function taken(payload: Buffer | string, headers: Record<string, string> = {}): Promise<void> {
  const before = await headOf(api.db.pool, run);
  const answer = await way.append(run, sequence, payload, headers);
  expect(answer).toMatchObject({ status: 200, body: { firstPosition: before, duplicate: false } });
  sequence++;
  const events = await readEvents(api.db.pool, run, before);
  expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => before + i));
  expect(events).toHaveLength(answer.body.eventCount);
}

const zstd = { 'content-encoding': 'zstd' };
const gzip = { 'content-encoding': 'gzip' };
const batch = line(turn(0));

const LINES: Record<string, readonly [payload: Buffer | string, where: object]> = {
  'half a line': ['{"type":"turn.rec', { line: 1, pointer: '', expected: 'one JSON object' }],
  'text that is no JSON': ['hello\n', { line: 1, pointer: '' }],
  'a number': ['1\n', { line: 1, expected: 'one JSON object', found: '1' }],
  'one array of events': [JSON.stringify([turn(0), turn(1)]), { line: 1, expected: 'one JSON object' }],
  'a blank line in the middle': [`${batch}\n${line(turn(1))}`, { line: 2, expected: 'one JSON object' }],
  'blank lines at the end': [`${batch}\n\n`, { line: 2, expected: 'one JSON object' }],
  nothing: ['', { line: 1, expected: 'at least one event', found: 'an empty body' }],
  'a newline': ['\n', { line: 1, expected: 'one JSON object' }],
  'a byte order mark alone': ['\ufeff', { line: 1, expected: 'at least one event' }],
  'two byte order marks': [`\ufeff\ufeff${batch}`, { line: 1 }],
  'a byte order mark on the second line': [`${batch}\ufeff${line(turn(1))}`, { line: 2 }],
  'UTF-16': [Buffer.from(batch, 'utf16le'), { line: 1 }],
  'latin-1': [Buffer.from(`${batch}${spelled('"x":"é"', 1)}`, 'latin1'), { line: 2, expected: 'UTF-8' }],
  'a surrogate in UTF-8': [
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    { line: 1, expected: 'UTF-8' },
  ],
  NaN: [spelled('"reward":NaN'), { line: 1, expected: 'one JSON object' }],
  Infinity: [spelled('"reward":Infinity'), { line: 1, expected: 'one JSON object' }],
  'a number beyond the doubles': [spelled('"reward":1e999'), { line: 1, pointer: '/reward' }],
  'one in a signal': [spelled('"signals":{"x":-1e999}'), { line: 1, pointer: '/signals/x' }],
  'one deep in a signal': [spelled('"signals":{"x":{"y":[1e999]}}'), { line: 1 }],
  'one among tokens': [spelled('"tokens":{"logprob":[0,1e999]}'), { line: 1 }],
  'a token beyond float32': [
    spelled('"tokens":{"logprob":[0,1e308]}'),
    { line: 1, pointer: '/tokens/logprob/1', expected: 'a number that fits into a float32', found: '1e+308' },
  ],
  'a sketch beyond float32': [
    line({ type: 'checkpoint.recorded', at: AT, trainingStep: 0, sketch: [-1e39] }),
    { line: 1, pointer: '/sketch/0' },
  ],
  'a reward that is text': [line(turn(0, { reward: '1' })), { line: 1, pointer: '/reward', found: '"1"' }],
  'signals in a list': [line(turn(0, { signals: [1] })), { line: 1, pointer: '/signals' }],
  'a signal without a name': [line(turn(0, { signals: { '': 1 } })), { line: 1, pointer: '/signals' }],
  'a signal with a long name': [line(turn(0, { signals: { ['x'.repeat(129)]: 1 } })), { line: 1, pointer: '/signals' }],
  'a turn that skips': [`${batch}${line(turn(2))}`, { line: 2, pointer: '/turn', found: '2' }],
  'a turn that repeats': [`${batch}${batch}`, { line: 2, pointer: '/turn', found: '0' }],
  'a turn below 0': [line(turn(-1)), { line: 1, pointer: '/turn' }],
  'half a turn': [line(turn(0.5)), { line: 1, pointer: '/turn' }],
  'a turn beyond 2^53': [spelled('"turn":9007199254740993'), { line: 1, pointer: '/turn' }],
  'a training step beyond 2^31': [line(turn(0, { trainingStep: 2 ** 31 })), { line: 1, pointer: '/trainingStep' }],
  'a parent beyond any turn': [
    line(turn(0, { parent: { trajectory: 'p', turn: 2 ** 40 } })),
    { line: 1, pointer: '/parent/turn' },
  ],
  'a name for every signal': [
    line({ ...whole, turns: Array.from({ length: 20_000 }, (_, i) => ({ signals: { [`s${i}`]: 1 } })) }),
    { line: 1, pointer: '/turns/1000/signals', found: '1001' },
  ],
  'an unknown type': [line({ type: 'turn.taken', at: AT }), { line: 1, pointer: '/type', found: '"turn.taken"' }],
  'a type of every object': [line({ type: 'constructor', at: AT }), { line: 1, pointer: '/type' }],
  'a type that is an object': [line({ type: { a: 'x'.repeat(1e6) }, at: AT }), { line: 1, pointer: '/type' }],
  'no type': ['{}', { line: 1, pointer: '/type', found: 'nothing' }],
  'a version to come': [line(turn(0, { version: 2 })), { line: 1, pointer: '/version', found: '2' }],
  'no time': [line({ type: 'run.ended' }), { line: 1, pointer: '/at', expected: 'a value', found: 'nothing' }],
  'brackets without end': [repeated('[', 1e6), { line: 1, pointer: '' }],
  'a list of lists of lists': [
    Buffer.concat([repeated('[', 1e6), repeated(']', 1e6)]),
    { line: 1, pointer: '', expected: 'one JSON object' },
  ],
  'a deep signal': [
    spelled(`"signals":{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`),
    { line: 1, expected: 'JSON nested up to 64 levels' },
  ],
  'a deep type': [`{"type":${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}}`, { line: 1 }],
  'compressed bytes that are not said to be': [zstdCompressSync(Buffer.from(batch)), { line: 1, expected: 'UTF-8' }],
};

describe('a batch is refused for', () => {
  it.each(Object.entries(LINES))('%s', async (_, [payload, where]) => {
    const { status, body } = await refused(payload);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'events.invalid' });
    expect(body.issues[0]).toMatchObject(where);
    expect(body.issues[0]).toMatchObject({ expected: expect.any(String), found: expect.any(String) });
    expect(String(body.issues[0].found).length).toBeLessThan(300);
  });

  it.each(['run.started', 'analysis.requested', 'analysis.completed', 'run.erased'])(
    'an event that only the platform writes: %s',
    async (type) => {
      const event = { type, at: AT, project: 'p', name: 'n', analysis: 'a', request: {}, state: 'completed' };
      const { body } = await refused(line(event));
      expect(body.issues).toMatchObject([{ line: 1, pointer: '/type', found: JSON.stringify(type) }]);
    },
  );

  it.each(
    ['\\ud800', '\\udc00', '\\u0000', '\\n'].flatMap((escape) =>
      ['trajectory', 'group'].map((field) => [escape, field]),
    ),
  )(
    // prettier-ignore
    '%s in %s',
    async (escape, field) => {
      const event = JSON.stringify({ ...turn(0), [field]: 'HERE' }).replace('HERE', `a${escape}b`);
      const { body } = await refused(event);
      expect(body.issues).toMatchObject([{ line: 1, pointer: `/${field}` }]);
    },
  );

  it('too many events', async () => {
    const { status, body } = await refused(repeated(`{"type":"run.ended","at":"${AT}"}\n`, 10_001));
    expect({ status, code: body.code, found: body.found }).toEqual({
      status: 413,
      code: 'batch.too-large',
      found: 10_001,
    });
  });

  it('too many newlines', async () => {
    expect(await refused(repeated('\n', 16_000_000))).toMatchObject({ status: 413 });
  });

  it('too many bytes, as they are and compressed', async () => {
    expect(await refused(repeated(' ', 16 * 1024 * 1024 + 1))).toMatchObject({ body: { code: 'batch.too-large' } });
    expect(await refused(repeated(' ', 20 * 1024 * 1024))).toMatchObject({ body: { code: 'batch.too-large' } });
    const bomb = zstdCompressSync(Buffer.alloc(100 * 1024 * 1024));
    expect(await refused(bomb, zstd)).toMatchObject({ status: 413, body: { code: 'batch.too-large' } });
    expect(await refused(gzipSync(Buffer.alloc(100 * 1024 * 1024)), gzip)).toMatchObject({ status: 413 });
  });

  it('gzip inside zstd', async () => {
    const { body } = await refused(zstdCompressSync(gzipSync(batch)), zstd);
    expect(body.issues).toMatchObject([{ line: 1, expected: 'UTF-8' }]);
  });

  it.each([
    ['half a zstd frame', zstdCompressSync(Buffer.from(batch)).subarray(0, -5), zstd],
    ['half a gzip member', gzipSync(batch).subarray(0, -5), gzip],
    ['gzip that says zstd', gzipSync(batch), zstd],
    ['plain text that says gzip', Buffer.from(batch), gzip],
    ['no bytes that say zstd', Buffer.alloc(0), zstd],
    ['no bytes that say gzip', Buffer.alloc(0), gzip],
    ['gzip with its checksum wrong', Buffer.concat([gzipSync(batch).subarray(0, -8), Buffer.alloc(8, 1)]), gzip],
  ])('%s', async (_, payload, headers) => {
    expect([400, 422]).toContain((await refused(payload, headers)).status);
  });

  it.each([
    ['content-encoding', 'br', 415],
    ['content-encoding', 'gzip, zstd', 415],
    ['content-encoding', '__proto__', 415],
    ['content-type', 'text/plain', 415],
    ['content-type', 'application/xml', 415],
    ['content-type', 'application/json', 415],
    ['content-type', 'nonsense', 415],
    ['recredit-producer', '', 400],
    ['recredit-producer', 'a b', 400],
    ['recredit-producer', 'é', 400],
    ['recredit-producer', 'x'.repeat(129), 400],
    ['recredit-producer', 'recredit', 400],
    ['recredit-epoch', '-1', 400],
    ['recredit-epoch', '1e3', 400],
    ['recredit-sequence', '0x10', 400],
    ['recredit-sequence', '2147483648', 400],
    ['recredit-sequence', '99999999999999999999', 400],
    ['recredit-sequence', '0, 0', 400],
    ['recredit-sequence', 'NaN', 400],
    ['authorization', 'Bearer rk_no_such', 401],
    ['authorization', `Bearer ${'x'.repeat(10_000)}`, 401],
    ['authorization', 'Basic cms6cms=', 401],
    ['authorization', '', 401],
  ])('the header %s: %s', async (name, value, status) => {
    expect(await refused(batch, { [name]: value })).toMatchObject({ status });
  });

  it.each(['nobody', '%00', '%ff', '..%2f..', '__proto__', 'x'.repeat(500), '%F0%9F%98%80'])(
    'the run %s',
    async (id) => {
      const answer = await way.append(id, 0, batch);
      expect([400, 404, 414]).toContain(answer.status);
      expect(answer.type).toContain('application/problem+json');
    },
  );

  it('a key of another project, and one that was revoked', async () => {
    const everything = confine(api.db.callerPool, '*');
    const stranger = await api.key(await aProject(api.db.ownerPool), 'ingest');
    expect(await refused(batch, { authorization: `Bearer ${stranger}` })).toMatchObject({ status: 404, body: { code: 'run.unknown' } }); // prettier-ignore
    const revoked = await api.key(null, 'ingest');
    await revokeKey(everything, revoked.split('_')[1]);
    expect(await refused(batch, { authorization: `Bearer ${revoked}` })).toMatchObject({ status: 401, body: { code: 'key.invalid' } }); // prettier-ignore
  });
});

describe('a batch is taken with', () => {
  it.each([
    ['a byte order mark', `\ufeff${batch}`],
    ['CRLF', `${JSON.stringify(turn(0))}\r\n${JSON.stringify(turn(1))}\r\n`],
    ['no newline at its end', JSON.stringify(turn(0))],
    ['spaces around', ` \t${JSON.stringify(turn(0))} \n`],
    ['keys twice: the last one stands', spelled('"turn":7,"turn":8')],
    [
      '__proto__ and constructor as keys',
      spelled('"__proto__":{"turn":"x"},"constructor":1,"signals":{"__proto__":1}'),
    ],
    ['numbers beyond 2^53', spelled('"reward":9007199254740993,"signals":{"x":123456789012345678901234567890}')],
    ['64 levels', spelled(`"signals":{"x":${'['.repeat(62)}${']'.repeat(62)}}`)],
    ['NUL and lone surrogates in texts', spelled('"state":"\\u0000\\ud800","action":[{"role":"\\udfff","content":"\\u0000"}],"signals":{"\\ud800":"\\u0000"}')], // prettier-ignore
    [
      '10,000 events',
      repeated(`{"type":"trainingStep.recorded","at":"${AT}","trainingStep":1,"metrics":{}}\n`, 10_000),
    ],
    ['10 MB of text in one field', line(turn(0, { state: 'hello '.repeat(1_700_000) }))],
  ])('%s', async (_, payload) => {
    await taken(payload);
  });

  it('turns that skip, repeat and come after the end, across batches', async () => {
    for (const n of [5, 5, 0]) await taken(line(turn(n, { trajectory: 'u' })));
    await taken(line({ type: 'trajectory.ended', at: AT, trajectory: 'u', group: 'g', trainingStep: 0 }));
    await taken(line(turn(1, { trajectory: 'u' })));
  });

  it('and all of it can be followed', async () => {
    const { trajectories } = await way.follow(run);
    const found = trajectories.find(({ id }) => id === 'u');
    expect(found).toMatchObject({ state: 'INCOMPLETE', problems: { missingTurns: { count: 3, turns: [2, 3, 4] } } });
  });
});

it('refuses a sequence that comes again with other bytes', async () => {
  await taken(line(turn(3, { trajectory: 'v' })));
  const answer = await way.append(run, sequence - 1, line(turn(4, { trajectory: 'v' })));
  expect(answer).toMatchObject({ status: 409, body: { code: 'batch.conflicting' } });
  expect(await way.append(run, sequence + 1, batch)).toMatchObject({ status: 409, body: { code: 'sequence.unexpected', expected: sequence } }); // prettier-ignore
});

it('holds its memory while bombs come in', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(100 * 1024 * 1024));
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 2);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => way.append(run, sequence, bomb, zstd)));
    for (const { status } of answers) expect([413, 429]).toContain(status);
  }
  clearInterval(watch);
  expect(most - before).toBeLessThan(512 * 1024 * 1024);
  await taken(line(turn(9, { trajectory: 'w' })));
});

it.each([
  ['deep nesting', `{"project":"odd","name":"deep","config":{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`],
  ['__proto__', '{"project":"odd","name":"proto","config":{"__proto__":{"x":1}}}'],
  ['no JSON', '{'],
  ['an array', '[]'],
  ['null', 'null'],
  ['nothing', ''],
  ['NUL', '{"project":"odd","name":"a\\u0000b"}'],
  ['a lone surrogate in its config', '{"project":"odd","name":"x","config":{"\\ud800":1}}'],
  ['5 MB', JSON.stringify({ project: 'odd', name: 'x', config: { x: 'x'.repeat(5e6) } })],
])('refuses to create a run from %s', async (_, body) => {
  const answer = await way.send('/v1/runs', body, { 'content-type': 'application/json' });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.body.code).toEqual(expect.any(String));
});

it('names a batch that was tampered with', async () => {
  const other = await way.createRun('tampered');
  for (let n = 0; n < 3; n++) await way.append(other, n, line(turn(n)));
  const client = await api.db.ownerPool.connect();
  await client.query('set session_replication_role = replica');
  await client.query('update event_batch set payload = $2 where run_id = $1 and first_position = 2', [other, zstdCompressSync(Buffer.from(line(turn(7))))]); // prettier-ignore
  await client.query('reset session_replication_role');
  client.release();
  const { broken } = await verifyRun(api.db.pool, other);
  expect(broken).toMatchObject({ position: 2, producerId: 'p', sequence: 1 });
});
