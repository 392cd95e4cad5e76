import { checkBatch } from '#lib/protocol';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeEvent, type OutgoingEvent } from './encode-event.js';

const now = () => '2026-11-21T12:00:00Z';

const numbers = fc.array(fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, null, undefined)), {
  maxLength: 3,
});
const column = fc.oneof(
  numbers,
  fc.float32Array({ maxLength: 3 }),
  fc.float64Array({ maxLength: 3 }),
  fc.int16Array({ maxLength: 3 }),
  fc.record({ f32: fc.oneof(fc.string(), fc.constant('AACAPw=='), fc.constant('AACAfw==')) }),
  fc.anything(),
);
const fields = fc.record(
  {
    state: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
    reward: fc.oneof(fc.double(), fc.anything()),
    signals: fc.oneof(
      fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true, withMap: true })),
      fc.anything(),
    ),
    tokens: fc.oneof(fc.dictionary(fc.string(), column), fc.anything()),
    type: fc.anything(),
  },
  { requiredKeys: [] },
);
const tensors = fc.oneof(
  fc.array(fc.record({ name: fc.constantFrom('a', 'b', ''), size: fc.integer({ min: 0, max: 2 }) }), { maxLength: 2 }),
  fc.anything(),
);
const event = fc.oneof(
  fields.map((turn) => ({ ...turn, type: 'turn.recorded', trajectory: 't', group: 'g', trainingStep: 0, turn: 0 })),
  fc.array(fields).map((turns) => ({ type: 'trajectory.recorded', id: 't', group: 'g', trainingStep: 0, turns })),
  fc
    .dictionary(fc.string(), fc.anything())
    .map((metrics) => ({ type: 'trainingStep.recorded', trainingStep: 0, metrics })),
  column.map((sketch) => ({ type: 'checkpoint.recorded', trainingStep: 0, sketch })),
  tensors.map((divided) => ({ type: 'checkpoint.recorded', trainingStep: 0, sketch: [1, 2], tensors: divided })),
  fc.anything(),
);

it('answers any event with a line that the platform takes, or with a problem, and never throws', () => {
  let lines = 0;
  fc.assert(
    fc.property(event, (given) => {
      const encoded = encodeEvent(() => given as OutgoingEvent, now);
      if ('problem' in encoded) return;
      lines++;
      expect(encoded.bytes).toBe(Buffer.byteLength(encoded.line));
      expect(checkBatch(Buffer.from(encoded.line))).toHaveLength(1);
    }),
    { numRuns: 1_000 },
  );
  expect(lines).toBeGreaterThan(100);
});

it('refuses what fits into no batch', () => {
  const huge = {
    type: 'turn.recorded',
    trajectory: 't',
    group: 'g',
    trainingStep: 0,
    turn: 0,
    state: 'x'.repeat(2 ** 24),
  };
  expect(encodeEvent(() => huge, now)).toEqual({
    problem: expect.stringMatching(/expected up to 16777216 bytes, found 16777\d+/),
  });
});

const base = { type: 'turn.recorded', trajectory: 't', group: 'g', trainingStep: 0, turn: 0 } as const;
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const throwing = {
  get x(): never {
    throw new Error('not now');
  },
};

/** Both sides say the same: what is encoded is taken, and what the platform would refuse is not encoded. */
it.each([
  ['64 levels', { signals: { x: nested(62) } }, true],
  ['65 levels', { signals: { x: nested(63) } }, false],
  ['65 levels of what nobody knows', { extra: nested(64) }, false],
  ['a thousand names', { signals: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`s${i}`, 1])) }, true],
  ['too many names', { signals: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`s${i}`, 1])) }, false],
  ['a token beyond float32', { tokens: { logprob: [1e39] } }, false],
  ['one beyond it in doubles', { tokens: { logprob: Float64Array.of(1e39) } }, false],
  ['tokens under odd names', { tokens: JSON.parse('{"__proto__": [1], "constructor": [2]}') }, true],
  ['odd names whose values change', { signals: JSON.parse('{"__proto__": {"a": null}, "constructor": 1}') }, true],
  ['a big integer', { signals: { x: 1n } }, false],
  ['a symbol', { signals: { x: Symbol('x') } }, true],
  ['a function', { signals: { x: () => 1 } }, true],
  ['a date', { signals: { x: new Date(0) } }, true],
  ['a date that is none', { signals: { x: new Date(NaN) } }, true],
  ['a map', { signals: { x: new Map([[1, 2]]) } }, false],
  ['a set', { signals: new Set([1]) }, false],
  ['typed arrays', { signals: { x: Float32Array.of(1, NaN), y: Uint8Array.of(1), z: new BigInt64Array(0) } }, true],
  ['big typed integers', { signals: { x: BigInt64Array.of(1n) } }, false],
  ['bytes', { state: Buffer.from('x') }, false],
  ['a sparse array', { signals: { x: [1, , 3] }, tokens: { word: [, 'a'] } }, true], // oxlint-disable-line no-sparse-arrays
  ['a getter that throws', { signals: throwing }, false],
  ['a cycle', { signals: cyclic }, false],
  ['toJSON that gives itself', { signals: { x: { toJSON: () => cyclic } } }, false],
  ['toJSON that throws', { signals: { x: { toJSON: () => throwing.x } } }, false],
  ['a proxy that throws', { signals: new Proxy({}, { ownKeys: () => throwing.x }) }, false],
  ['a text that is an object', { state: Object('hall') }, false],
  ['a number that is an object', { reward: Object(1) }, false],
  ['a reward without end', { reward: Infinity }, false],
  ['a reward that is none', { reward: NaN }, true],
  ['a million tokens', { tokens: { logprob: new Array(1e6).fill(-0.5) } }, true],
  ['a million tokens in floats', { tokens: { logprob: new Float32Array(1e6) } }, true],
  ['no prototype', Object.assign(Object.create(null), { signals: Object.assign(Object.create(null), { x: 1 }) }), true],
])('says the same as the platform of %s', (_, rest: object, isTaken) => {
  const encoded = encodeEvent(() => ({ ...base, ...rest }), now);
  expect('line' in encoded, JSON.stringify(encoded).slice(0, 300)).toBe(isTaken);
  if ('line' in encoded) expect(checkBatch(Buffer.from(encoded.line))).toHaveLength(1);
});

const sketch = { type: 'checkpoint.recorded', trainingStep: 0, sketch: [1, 2, null] };
it.each([
  ['numbers', {}, null],
  ['texts', { sketch: ['a'] }, /sketch: expected numbers, found \["a"\]/],
  ['more numbers than any sketch has', { sketch: new Float32Array(262_145) }, /expected up to 262144 numbers/],
  [
    'all divided',
    {
      tensors: [
        { name: 'a', size: 1 },
        { name: 'b', size: 2 },
      ],
    },
    null,
  ],
  [
    'some left over',
    { tensors: [{ name: 'a', size: 2 }] },
    /tensors: expected sizes that add up to the 3 numbers of the sketch, found 2/,
  ],
  [
    'one name twice',
    {
      tensors: [
        { name: 'a', size: 1 },
        { name: 'a', size: 2 },
      ],
    },
    /tensors\/1\/name: expected each name once/,
  ],
  ['no tensor', { tensors: [] }, /tensors/],
])('says the same as the platform of a sketch: %s', (_, rest: object, problem) => {
  // prettier-ignore
  const encoded = encodeEvent(() => ({ ...sketch, ...rest }), now);
  if (problem === null) expect(checkBatch(Buffer.from('line' in encoded ? encoded.line : ''))).toHaveLength(1);
  else expect('problem' in encoded && encoded.problem).toMatch(problem);
  if (problem !== null && !('sketch' in rest && rest.sketch instanceof Float32Array)) {
    expect(() => checkBatch(Buffer.from(JSON.stringify({ ...sketch, at: now(), ...rest })))).toThrow();
  }
});

it('keeps what stands under odd names', () => {
  const given = JSON.parse('{"__proto__": [1], "constructor": [2]}');
  const signals = JSON.parse('{"__proto__": {"a": 1}}');
  signals.changing = [NaN];
  Object.defineProperty(signals, '__proto__', { value: [NaN, 1], enumerable: true });
  const encoded = encodeEvent(() => ({ ...base, tokens: given, signals }), now);
  if (!('line' in encoded)) throw new TypeError(encoded.problem);
  expect(encoded.line).toContain('"__proto__":[1],"constructor":[2]');
  expect(encoded.line).toContain('"__proto__":[null,1],"changing":[null]');
});
