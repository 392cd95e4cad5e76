import { gzipSync } from 'node:zlib';
import { confine } from '#lib/access';
import { headOf, verifyRun } from '#lib/event-log';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { wholeWayOf } from '../../../../test/support/whole-way.js';

const RUNS = Number(process.env.RECREDIT_FUZZ_RUNS ?? 200);

let api: TestApi;
let way: Awaited<ReturnType<typeof wholeWayOf>>;

beforeAll(async () => {
  api = await testApi();
  way = await wholeWayOf(api);
});

afterAll(() => api?.close());

const text = fc.oneof(
  fc.constantFrom('', 'chat', 'LLM', 'TOOL', 'x', '__proto__', '\u0000', '\ud800', '😀', '[{"role":"user","content":"x"}]', '[{"role":"assistant","parts":[{"type":"tool_call","name":"f","arguments":{"a":1e400}}]}]', '{"a":'), // prettier-ignore
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    text.map((stringValue) => ({ stringValue })),
    fc
      .oneof(fc.double(), fc.constantFrom(1, 0, 0.5, 1e308, 'NaN', 'Infinity', null))
      .map((doubleValue) => ({ doubleValue })),
    fc
      .oneof(fc.integer(), fc.constantFrom('9223372036854775807', '-1', '2147483648'))
      .map((intValue) => ({ intValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.constantFrom({}, null, { bytesValue: 'AAA=' }),
    fc.array(tie('any'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
    fc
      .array(fc.record({ key: text, value: tie('any') }), { maxLength: 3 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
})).any;
const name = fc.oneof(
  fc.constantFrom('gen_ai.operation.name', 'openinference.span.kind', 'gen_ai.request.model', 'gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.tool.name', 'gen_ai.tool.call.result', 'gen_ai.agent.name', 'gen_ai.usage.input_tokens', 'gen_ai.response.finish_reasons', 'llm.input_messages.0.message.content', 'llm.output_messages.0.message.tool_calls.0', 'gen_ai.conversation.id', 'input.value', 'output.value'), // prettier-ignore
  fc.constantFrom('recredit.group', 'recredit.training_step', 'recredit.outcome_reward', 'recredit.success', 'recredit.reward', 'recredit.signal.', 'recredit.signal.credit', 'recredit.signal.valueEstimate', 'recredit.project'), // prettier-ignore
  text,
);
/** Now and then what is no value at all. */
const odd = fc.oneof(
  { weight: 300, arbitrary: value },
  fc.constantFrom<unknown>(1, { intValue: 1.5 }, { boolValue: 'yes' }),
);
const attributes = fc.array(fc.record({ key: name, value: odd }), { maxLength: 4 });
const time = fc.constantFrom('0', '1790000000000000000', '1790000001000000000', '18446744073709551615', 5, '-1');
/** Spans of two traces, in trees, circles and pieces; half of them are inferences. */
const span = fc
  .record({
    traceId: fc.constantFrom('1'.repeat(32), 'A'.repeat(32)),
    spanId: fc.constantFrom('1', '2', '3', '4', '5').map((digit) => digit.repeat(16)),
    parentSpanId: fc.oneof(
      fc.constant(''),
      fc.constantFrom('1', '2', '3', '9').map((digit) => digit.repeat(16)),
    ),
    name: text,
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    flags: fc.constantFrom(0, 1, 0x300),
    attributes,
    events: fc.array(fc.record({ name: fc.constantFrom('gen_ai.evaluation.result', 'gen_ai.choice', 'x'), attributes }), { maxLength: 2 }), // prettier-ignore
    status: fc.constantFrom({}, { code: 2, message: 'x' }, null),
  })
  .chain((made) =>
    fc.integer({ min: 0, max: 3 }).map((isChat) => ({
      ...made,
      attributes: isChat
        ? [...made.attributes, { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }]
        : made.attributes,
    })),
  );

/** A name deep in a signal that Postgres cannot read; it was found here. */
const HALF_A_PAIR_INSIDE = {
  traceId: '1'.repeat(32),
  spanId: '1'.repeat(16),
  parentSpanId: '',
  name: '',
  startTimeUnixNano: '0',
  endTimeUnixNano: '0',
  flags: 0 as const,
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'recredit.signal.x', value: { kvlistValue: { values: [{ key: '\ud800', value: { stringValue: 'y' } }] } } },
  ],
  events: [],
  status: {},
};

it('an export is stored where it can be followed to the end, refused in part, or refused whole; never more', async () => {
  const seen = { stored: 0, partly: 0, refused: 0 };
  let named = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(span, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
      async (exports) => {
        const service = `fuzzed-${named++}`;
        const resource = { attributes: [{ key: 'recredit.run', value: { stringValue: service } }] };
        for (const [i, given] of exports.entries()) {
          // pieces of a trace spoil what comes after them, so most exports have traces of their own
          const prefix = `${named}${i === 3 ? 2 : i}`.padStart(8, 'a');
          const spans = given.map((one) => ({ ...one, traceId: prefix + one.traceId.slice(8) }));
          const body = gzipSync(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }));
          const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
          const answer = await way.send('/v1/traces', body, headers);
          if (answer.status === 200) {
            const rejected = Number(answer.body.partialSuccess?.rejectedSpans ?? 0);
            expect(rejected).toBeLessThanOrEqual(spans.length);
            seen[rejected === 0 ? 'stored' : 'partly']++;
          } else {
            expect(answer).toMatchObject({
              status: 400,
              body: { code: 'request.invalid', detail: expect.any(String) },
            });
            seen.refused++;
          }
        }
        expect(api.logged.splice(0)).toEqual([]);
        const [run] = await confine(api.db.callerPool, '*').query<{ id: string }>(
          'select id from run where name = $1',
          [service],
        );
        if (!run || (await headOf(api.db.pool, run.id)) < 2) return;
        expect((await verifyRun(api.db.pool, run.id)).broken).toBeNull();
        await way.follow(run.id, [{ id: 'grpo' }]);
      },
    ),
    { numRuns: Math.ceil(RUNS / 8), interruptAfterTimeLimit: 3_600_000, examples: [[[[HALF_A_PAIR_INSIDE]]]] },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 200);
}, 3_600_000);
