import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonOf, protobufOf, shop, tracedAgent } from '../../../test/support/traced-agent.js';
import { decodeJson } from './decode-json.js';
import { decodeProtobuf } from './decode-protobuf.js';
import { partialSuccessOf } from './partial-success.js';
import { readTrajectories } from './read-trajectories.js';
import type { Json, Span } from './span.js';

const RUNS = Number(process.env.RECREDIT_FUZZ_RUNS ?? 200) * 5;

const agent = tracedAgent();
shop(agent.tracer, { 'recredit.outcome_reward': 1, 'recredit.training_step': 2 });
const spans = agent.ended();
const forms = { protobuf: protobufOf(spans), json: jsonOf(spans) };

/** Bytes struck, cut out and put in. */
const strokes = fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.nat(255)), { minLength: 1, maxLength: 4 });

function damaged(bytes: Buffer, changes: readonly (readonly [number, number, number])[]): Buffer {
  return changes.reduce((result, [at, kind, byte]) => {
    const place = at % Math.max(result.length, 1);
    if (kind === 0) return Buffer.concat([result.subarray(0, place), Buffer.from([byte]), result.subarray(place + 1)]);
    if (kind === 1) return Buffer.concat([result.subarray(0, place), result.subarray(place + 1 + (byte % 8))]);
    return Buffer.concat([result.subarray(0, place), Buffer.from([byte]), result.subarray(place)]);
  }, bytes);
}

/** Every span is in a trajectory or refused, once; nothing but a refusal is thrown. */
function follow(decode: () => Span[]): 'refused' | 'read' {
  let decoded: Span[];
  try {
    decoded = decode();
  } catch (error) {
    expect(error).toBeInstanceOf(RecreditError);
    expect((error as RecreditError).status).toBe(400);
    return 'refused';
  }
  const { trajectories, refusals } = readTrajectories(decoded);
  const placed = trajectories.reduce((sum, trajectory) => sum + trajectory.spans.length, 0);
  const refused = partialSuccessOf(refusals)?.rejectedSpans ?? 0;
  expect(placed + refused).toBe(decoded.length);
  for (const { event } of trajectories) expect(JSON.parse(JSON.stringify(event)).turns.length).toBeGreaterThan(0);
  return 'read';
}

it.each([
  ['protobuf', (bytes: Buffer) => decodeProtobuf(bytes)],
  ['json', (bytes: Buffer) => decodeJson(bytes.toString())],
] as const)('damaged %s is read or refused, never more', (form, decode) => {
  const seen = { refused: 0, read: 0 };
  fc.assert(
    fc.property(strokes, (changes) => void seen[follow(() => decode(damaged(forms[form], changes)))]++),
    { numRuns: RUNS },
  );
  expect(seen.refused).toBeGreaterThan(0);
  expect(seen.read).toBeGreaterThan(0);
});

it('any bytes at all are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void follow(() => decodeProtobuf(bytes))),
    { numRuns: RUNS },
  );
});

/** Attributes of any kind under the names that mean something. */
const name = fc.oneof(
  fc.constantFrom('gen_ai.input.messages', 'gen_ai.output.messages', 'llm.input_messages.0.message.role', 'llm.input_messages.0', 'llm.input_messages.1.message.contents.0.message_content.text', 'llm.output_messages.0.message.tool_calls.0', 'gen_ai.prompt.0', 'gen_ai.prompt', 'input.value', 'output.value', 'recredit.reward', 'recredit.group', 'recredit.success', 'recredit.training_step', 'recredit.signal.__proto__', 'gen_ai.response.finish_reasons', 'gen_ai.request.choice.count', 'gen_ai.usage.input_tokens', '__proto__', 'constructor'), // prettier-ignore
  fc.string({ maxLength: 12 }).map((rest) => `llm.output_messages.${rest}`),
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('[', '{"parts":[]}', '[{"role":"user","parts":[{"type":"text"}]}]', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, '\ud800', '{"__proto__":1}'), // prettier-ignore
);

it('attributes of any kind under any name are read or refused', () => {
  const [first] = decodeProtobuf(forms.protobuf);
  let read = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (attributes) => {
      const given = [['gen_ai.operation.name', 'chat'] as const, ...attributes];
      const span = { ...first, parentSpanId: '', attributes: new Map(given) } as Span;
      const { trajectories, refusals } = readTrajectories([span]);
      expect(trajectories.length + refusals.length).toBe(1);
      read += trajectories.length;
    }),
    { numRuns: RUNS },
  );
  expect(read).toBeGreaterThan(RUNS / 4);
});

it.each([
  ['a chain of 10,000 spans', 10_000],
  ['one span', 1],
])('%s, each inside the one before', (_, length) => {
  const [first] = decodeProtobuf(forms.protobuf);
  const idOf = (i: number) => (i + 1).toString(16).padStart(16, '0');
  const chain = Array.from({ length }, (_, i) => ({
    ...first,
    spanId: idOf(i),
    parentSpanId: i === 0 ? '' : idOf(i - 1),
  }));
  expect(readTrajectories(chain).trajectories).toMatchObject([{ event: { turns: [{}] } }]);
});

it('JSON text that nests too deeply is a text', () => {
  const [first] = decodeProtobuf(forms.protobuf);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const said = [{ role: 'assistant', parts: [{ type: 'tool_call', name: 'f', arguments: deep }] }];
  const attributes = new Map<string, Json>([
    ['gen_ai.operation.name', 'chat'],
    ['gen_ai.input.messages', deep],
    ['gen_ai.output.messages', said],
  ]);
  const { trajectories } = readTrajectories([{ ...first, parentSpanId: '', attributes }]);
  expect(trajectories).toMatchObject([{ event: { turns: [{ state: `user:${deep}`, action: `f${deep}` }] } }]);
});
