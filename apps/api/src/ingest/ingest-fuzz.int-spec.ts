import { gzipSync, zstdCompressSync } from 'node:zlib';
import { headOf, readEvents, verifyRun } from '#lib/event-log';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { wholeWayOf } from '../../../../test/support/whole-way.js';

const RUNS = Number(process.env.RECREDIT_FUZZ_RUNS ?? 200);
const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let way: Awaited<ReturnType<typeof wholeWayOf>>;

beforeAll(async () => {
  api = await testApi();
  way = await wholeWayOf(api);
});

afterAll(() => api?.close());

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, 1e308, -1e308, 5e-324, 3.5e38, 2 ** 31, 2 ** 53, -1, 0.5, 1_000_000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.nat(5),
);
const text = fc.oneof(
  fc.constantFrom('', 't', 'u', 'g', 'credit', '__proto__', 'constructor', 'exactAdvantage', 'reward', 'value', 'mask', '\u0000', '\ud800', '😀'), // prettier-ignore
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: number },
  { weight: 3, arbitrary: text },
  fc.constantFrom(null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(number, { maxLength: 4 }),
  fc.dictionary(text, number, { maxKeys: 3 }),
  fc.constantFrom({ f32: 'AACAPw==' }, { f16: 'AAA=' }, { f32: '' }, { f32: 'AACAfw==' }, { f64: '' }),
  fc.constantFrom({ trajectory: 't', turn: 0 }, { trajectory: 'nobody', turn: -1 }),
);

const id = fc.constantFrom('t', 'u', 'v', '__proto__', 'a/b');
const place = { group: fc.constantFrom('g', 'h'), trainingStep: fc.constantFrom(0, 0, 1, 2 ** 31 - 1) };
const signals = fc.dictionary(
  text.filter((name) => name !== ''),
  value,
  { maxKeys: 3 },
);
const tokens = fc
  .tuple(fc.nat(3), fc.subarray(['logprob', 'reward', 'value', 'mask', 'constructor', 'word']))
  .chain(([n, names]) => fc.record(Object.fromEntries(names.map((name) => [name, fc.array(fc.constantFrom(0, 1, -2.5, null), { minLength: n, maxLength: n })])))); // prettier-ignore
const content = fc.constantFrom<unknown>('', 'hall', 'the hall', [{ role: 'user', content: 'x' }], '\ud800');
const turnFields = { state: content, action: content, reward: number, signals, tokens };
const some = { requiredKeys: [] };

/** Events that are well formed, in any order a trainer would not send them in. */
const event = fc.oneof(
  fc
    .tuple(id, fc.record(place), fc.nat(3), fc.record(turnFields, some))
    .map(([trajectory, where, turn, rest]) => ({ type: 'turn.recorded', at: AT, trajectory, ...where, turn, ...rest })),
  fc
    .tuple(
      id,
      fc.record(place),
      fc.record({ outcomeReward: number, success: fc.boolean(), signals, turnCount: fc.nat(4) }, some),
    )
    .map(([trajectory, where, rest]) => ({ type: 'trajectory.ended', at: AT, trajectory, ...where, ...rest })),
  fc
    .tuple(fc.uuid(), fc.record(place), fc.array(fc.record(turnFields, some), { maxLength: 4 }), fc.record({ outcomeReward: number, signals }, some))
    .map(([trajectory, where, turns, rest]) => ({ type: 'trajectory.recorded', at: AT, id: trajectory, ...where, turns, ...rest })), // prettier-ignore
  fc
    .record({
      trainingStep: fc.nat(2),
      metrics: fc.dictionary(
        text.filter((name) => name !== ''),
        fc.option(number),
        { maxKeys: 3 },
      ),
    })
    .map((rest) => ({ type: 'trainingStep.recorded', at: AT, ...rest })),
  fc
    .tuple(id, fc.array(fc.record({ turn: fc.nat(3), signals }), { maxLength: 2 }), fc.record({ signals }, some))
    .map(([trajectory, turns, rest]) => ({ type: 'annotation.recorded', at: AT, trajectory, annotator: 'a', turns, ...rest })), // prettier-ignore
  fc.constantFrom(0, 1, 2 ** 31 - 1).map((toTrainingStep) => ({ type: 'run.rewound', at: AT, toTrainingStep })),
  fc.constant({ type: 'run.ended', at: AT }),
  fc
    .array(number, { maxLength: 3 })
    .map((sketch) => ({ type: 'checkpoint.recorded', at: AT, trainingStep: 0, sketch })),
);

/** Puts a value at some place of an event: another one, none, or one more. */
const mutated = fc
  .tuple(event, fc.array(fc.tuple(fc.nat(), fc.nat(3), text, value), { maxLength: 2 }))
  .map(([given, changes]) => {
    const changed = structuredClone(given) as Record<string, unknown>;
    for (const [nth, kind, name, put] of changes) {
      const places = placesIn(changed);
      const [holder, key] = places[nth % places.length];
      if (kind === 0) delete holder[key];
      else if (kind === 1) holder[key] = put;
      else
        Object.defineProperty(holder, kind === 2 ? name : key, {
          value: put,
          enumerable: true,
          configurable: true,
          writable: true,
        });
    }
    return changed;
  });

function placesIn(value: Record<string, unknown>): [Record<string, unknown>, string][] {
  return Object.keys(value).flatMap((key) => {
    const inside = value[key];
    const below = typeof inside === 'object' && inside !== null ? placesIn(inside as Record<string, unknown>) : [];
    return [[value, key] as [Record<string, unknown>, string], ...below];
  });
}

const events = fc.array(fc.oneof({ weight: 4, arbitrary: event }, mutated), { minLength: 1, maxLength: 6 });
const written = events.map((batch) => Buffer.from(batch.map((each) => `${JSON.stringify(each)}\n`).join('')));

/** Bytes struck, cut out and put in. */
const damaged = fc
  .tuple(written, fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.nat(255)), { minLength: 1, maxLength: 3 }))
  .map(([bytes, strokes]) => {
    let result = Buffer.from(bytes);
    for (const [at, kind, byte] of strokes) {
      const place = at % Math.max(result.length, 1);
      if (kind === 0) result[place] = byte;
      else if (kind === 1) result = Buffer.concat([result.subarray(0, place), result.subarray(place + 1 + (byte % 8))]);
      else result = Buffer.concat([result.subarray(0, place), Buffer.from([byte]), result.subarray(place)]);
    }
    return result;
  });
const payload = fc.oneof(
  { weight: 8, arbitrary: written },
  { weight: 4, arbitrary: damaged },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const sending = fc.oneof(
  { weight: 12, arbitrary: payload.map((body) => ({ body, headers: {} })) },
  payload.map((body) => ({ body: zstdCompressSync(body), headers: { 'content-encoding': 'zstd' } })),
  payload.map((body) => ({ body: gzipSync(body), headers: { 'content-encoding': 'gzip' } })),
  fc
    .tuple(
      payload,
      fc.constantFrom(
        'content-encoding',
        'content-type',
        'recredit-producer',
        'recredit-epoch',
        'recredit-sequence',
        'authorization',
        'accept',
      ),
      fc.oneof(fc.constantFrom('gzip', 'zstd', 'p', '0', '1', '99', 'Bearer x'), fc.string({ maxLength: 20 })),
    ) // prettier-ignore
    .map(([body, name, header]) => ({ body, headers: { [name]: header.replace(/[^\x20-\x7e]/g, '?') } })),
);

/** Of each kind of refusal one, since chance may leave out those that are rare. */
const REFUSED = [
  { body: Buffer.from('{'), headers: {} },
  { body: Buffer.from('{}\n'), headers: { 'content-encoding': 'zstd' } },
  { body: Buffer.from('{}\n'), headers: { 'content-encoding': 'p' } },
  { body: Buffer.from('{}\n'), headers: { authorization: 'Bearer x' } },
  { body: Buffer.from('{}\n'), headers: { 'recredit-epoch': 'p' } },
  { body: Buffer.from('{}\n'), headers: { 'recredit-sequence': '99' } },
];

it('stores a batch whole where it can be read and followed to the end, or says what is wrong with it', async () => {
  let stored = 0;
  const refusals = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(sending, { minLength: 1, maxLength: 12 }), async (sendings) => {
      const run = await way.createRun();
      let sequence = 0;
      for (const { body, headers } of sendings) {
        const before = await headOf(api.db.pool, run);
        const answer = await way.append(run, sequence, body, headers);
        const after = await headOf(api.db.pool, run);
        if (answer.status === 200) {
          stored++;
          // under another producer's name the sequence is its own
          if (!('recredit-producer' in headers)) sequence++;
          if (!answer.body.duplicate) expect(after).toBe(before + answer.body.eventCount);
          continue;
        }
        refusals.set(
          `${answer.status} ${answer.body.code}`,
          (refusals.get(`${answer.status} ${answer.body.code}`) ?? 0) + 1,
        );
        expect(after).toBe(before);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.type).toContain('application/problem+json');
        expect(answer.body).toMatchObject({ code: expect.any(String), detail: expect.any(String) });
      }
      expect(api.logged.splice(0)).toEqual([]);
      const head = await headOf(api.db.pool, run);
      const read = await readEvents(api.db.pool, run, 0);
      expect(read.map(({ position }) => position)).toEqual(Array.from({ length: head }, (_, i) => i));
      expect((await verifyRun(api.db.pool, run)).broken).toBeNull();
      await way.follow(run);
    }),
    { numRuns: 1 + Math.ceil(RUNS / 8), interruptAfterTimeLimit: 3_600_000, examples: [[REFUSED]] },
  );
  expect(stored).toBeGreaterThan(RUNS / 20);
  expect(refusals.size).toBeGreaterThan(3);
}, 3_600_000);
