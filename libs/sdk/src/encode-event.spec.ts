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
const event = fc.oneof(
  fields.map((turn) => ({ ...turn, type: 'turn.recorded', trajectory: 't', group: 'g', trainingStep: 0, turn: 0 })),
  fc.array(fields).map((turns) => ({ type: 'trajectory.recorded', id: 't', group: 'g', trainingStep: 0, turns })),
  fc
    .dictionary(fc.string(), fc.anything())
    .map((metrics) => ({ type: 'trainingStep.recorded', trainingStep: 0, metrics })),
  column.map((sketch) => ({ type: 'checkpoint.recorded', trainingStep: 0, sketch })),
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
