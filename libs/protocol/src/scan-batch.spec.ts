import { isUtf8 } from 'node:buffer';
import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBatch, countEvents, MAX_BATCH_EVENTS, MAX_DEPTH } from './check-batch.js';
import { scanBatch } from './scan-batch.js';

const place = { at: '2026-11-21T12:00:00.123Z', trajectory: 't', group: 'g', trainingStep: 3 };
const turn = { type: 'turn.recorded', ...place, turn: 0, state: 'in a room', action: 'go "on"', reward: -0.5e-3 };
const ended = {
  type: 'trajectory.ended',
  ...place,
  outcomeReward: 1,
  success: true,
  signals: { a: [1] },
  turnCount: 1,
};
const step = { type: 'trainingStep.recorded', at: place.at, trainingStep: 3, metrics: { loss: 0.25, kl: null } };
const line = (event: unknown) => (typeof event === 'string' ? event : JSON.stringify(event));
const bytes = (...events: unknown[]) => new TextEncoder().encode(events.map(line).join('\n'));
const scanned = (batch: Uint8Array) => scanBatch(batch, MAX_BATCH_EVENTS, MAX_DEPTH);
const changed = (from: string, to: string) => JSON.stringify(turn).replace(from, to);
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, i]));

/** How many events `checkBatch` takes; -1: it refuses the batch. */
function checked(batch: Uint8Array): number {
  try {
    return checkBatch(batch).length;
  } catch (error) {
    if (error instanceof RecreditError) return -1;
    throw error;
  }
}

describe('scanBatch', () => {
  it.each([
    ['the events of a stream', [turn, { ...turn, turn: 1 }, ended, step]],
    ['a last newline, and carriage returns', [`${line(turn)}\r\n${line(ended)}\n`]],
    ['spaces as Python writes them', [line(turn).replaceAll('":', '": ').replaceAll(',"', ', "')]],
    ['fields in any order, and others', [Object.fromEntries(Object.entries({ ...turn, mood: [{}] }).toReversed())]],
    ['text beyond ASCII', [{ ...turn, trajectory: '试验 é 😀', state: 'é😀', signals: { größe: 1 } }]],
    ['escapes in text', [changed('in a room', String.raw`\u00e9\ud83d\ude00\n\"\\\/`)]],
    ['chat messages', [{ ...turn, state: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], action: [] }]],
    ['an offset', [{ ...turn, at: '2026-11-21T12:00:00+01:30' }]],
    ['a parent', [{ ...turn, parent: { trajectory: 'p', turn: -1 } }]],
    ['signals of any kind', [{ ...turn, signals: { a: 1e-7, b: null, c: 'x', d: [[1, 'y']], e: { f: false } } }]],
    ['a version', [{ ...turn, version: 1 }]],
    ['numbers at their ends', [{ ...turn, trainingStep: 2_147_483_647, turn: 1_000_000 }]],
    ['deep nesting', [changed('"reward":', `"x":${nested(MAX_DEPTH - 1)},"reward":`)]],
    ['a thousand names', [{ ...turn, signals: named(1000) }]],
    ['turns of several trajectories', [turn, { ...turn, trajectory: 'u', turn: 5 }, { ...turn, turn: 1 }]],
  ])('is certain of %s', (_, events) => {
    const batch = bytes(...events);
    expect(checked(batch)).toBeGreaterThan(0);
    expect(scanned(batch)).toBe(checked(batch));
  });

  it.each([
    ['nothing', ['']],
    ['an empty line', [turn, '', ended]],
    ['something after the event', [`${line(turn)}${line(turn)}`]],
    ['half an event', [line(turn).slice(0, -1)]],
    ['a comma too many', [`${line(turn).slice(0, -1)},}`]],
    ['a type that comes twice', [`${line(turn).slice(0, -1)},"type":"run.erased"}`]],
    ['a field that is missing', [{ ...turn, group: undefined }]],
    ['a field of the wrong type', [{ ...turn, reward: 'much' }]],
    ['a field that a parent does not have', [{ ...turn, parent: { trajectory: 'p', turn: 0, x: 1 } }]],
    ['a chat message without a role', [{ ...turn, state: [{ content: 'hi' }] }]],
    ['another version', [{ ...turn, version: 2 }]],
    ['a time that is none', [{ ...turn, at: '2026-11-21 12:00' }]],
    ['ten digits of a second', [{ ...turn, at: '2026-11-21T12:00:00.1234567890Z' }]],
    ['a negative turn', [{ ...turn, turn: -1 }]],
    ['a turn that is no integer', [{ ...turn, turn: 0.5 }]],
    ['a turn beyond the last', [{ ...turn, turn: 1_000_001 }]],
    ['a step beyond the last', [{ ...turn, trainingStep: 2_147_483_648 }]],
    ['a name that is empty', [{ ...turn, group: '' }]],
    ['a name that is too long', [{ ...turn, group: 'x'.repeat(513) }]],
    ['DEL in a name', [{ ...turn, group: 'a\u007fb' }]],
    ['a control character beyond ASCII in a name', [{ ...turn, group: 'a\u0085b' }]],
    ['an escaped one', [{ ...turn, group: 'a\u0000b' }]],
    ['half a surrogate pair in a name', [{ ...turn, group: '\ud800' }]],
    ['a raw tab in text', [changed('in a', 'in\ta')]],
    ['an escape that is none', [changed('in a', String.raw`\x`)]],
    ['half a \\u', [changed('in a room', String.raw`\u12"`)]],
    ['an infinite number', [changed('-0.0005', '1e999')]],
    ['a number that begins with 0', [changed('-0.0005', '01')]],
    ['a number that ends with a point', [changed('-0.0005', '1.')]],
    ['nesting that is too deep', [changed('"reward":', `"x":${nested(MAX_DEPTH)},"reward":`)]],
    ['a thousand and one names', [{ ...turn, signals: named(1001) }]],
    ['a name of a signal that is too long', [{ ...turn, signals: { ['x'.repeat(129)]: 1 } }]],
    ['a turn that is left out', [turn, { ...turn, turn: 2 }]],
    ['a turn that comes twice', [turn, turn]],
    ['too many events', Array.from({ length: MAX_BATCH_EVENTS + 1 }, () => step)],
    ['an event of the platform', [{ type: 'run.started', at: place.at, project: 'p', name: 'n' }]],
  ])('is not certain of %s', (_, events) => {
    expect(checked(bytes(...events))).toBe(-1);
    expect(scanned(bytes(...events))).toBe(-1);
  });

  it('is certain of nothing that checkBatch would refuse', () => {
    const name = fc.oneof(fc.constantFrom('t', 'u', 'é', ''), fc.string({ unit: 'binary' }));
    const event = fc.oneof(
      fc.record(
        {
          type: fc.constantFrom('turn.recorded', 'trajectory.ended', 'trainingStep.recorded', 'run.ended'),
          at: fc.constantFrom(place.at, '2026-11-21T12:00:00+23:59', 'now'),
          trajectory: name,
          group: name,
          trainingStep: fc.integer({ min: -1, max: 3 }),
          turn: fc.constantFrom(0, 0, 1, 2, -0, 1.5),
          state: fc.oneof(fc.string(), fc.jsonValue()),
          reward: fc.oneof(fc.double(), fc.constant(null)),
          signals: fc.oneof(fc.dictionary(name, fc.jsonValue()), fc.jsonValue()),
          tokens: fc.constantFrom(undefined, undefined, {}, { logprob: [1] }),
          metrics: fc.dictionary(name, fc.oneof(fc.double(), fc.constant(null))),
          mood: fc.jsonValue(),
        },
        { requiredKeys: ['type', 'at'] },
      ),
      fc.constantFrom(turn, ended, step),
    );
    /** Puts something in the place of a few bytes, where it may do harm. */
    const edit = fc.record({
      where: fc.double({ min: 0, max: 1, noNaN: true }),
      gone: fc.integer({ min: 0, max: 3 }),
      put: fc.constantFrom(
        '',
        '"',
        '\\',
        ',',
        '}',
        '{',
        '[',
        ']',
        ':',
        '0',
        '-',
        'e9',
        '.',
        '\n',
        '\t',
        ' ',
        '\\ud800',
        'é',
      ),
    });
    let certain = 0;
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 4 }),
        fc.array(edit, { maxLength: 2 }),
        (events, edits) => {
          let text = events.map(line).join('\n');
          for (const { where, gone, put } of edits) {
            const at = Math.floor(where * text.length);
            text = text.slice(0, at) + put + text.slice(at + gone);
          }
          const batch = bytes(text);
          const count = scanned(batch);
          if (count >= 0) {
            certain++;
            expect(checked(batch)).toBe(count);
          }
        },
      ),
      { numRuns: 1_500 },
    );
    expect(certain).toBeGreaterThan(50);
  });
});

describe('countEvents', () => {
  it('says the same as checkBatch, of what is scanned and of what is not', () => {
    for (const events of [
      [turn, ended],
      [turn, { ...turn, turn: 1, tokens: { logprob: [-1, -2] } }],
      [`\uFEFF${line(turn)}`],
    ]) {
      expect(countEvents(bytes(...events), isUtf8)).toBe(events.length);
    }
    const wrong = bytes(turn, { ...turn, turn: 2 });
    expect(() => countEvents(wrong, isUtf8)).toThrow('line 2 at /turn: expected 1, the next turn of t, found 2');
  });

  it('refuses what is no UTF-8, however good the rest is', () => {
    const batch = bytes(turn, { ...turn, turn: 1 });
    batch[batch.lastIndexOf('m'.charCodeAt(0))] = 0xff; // of "room"
    expect(scanned(batch)).toBe(2);
    expect(() => countEvents(batch, isUtf8)).toThrow('line 2: expected UTF-8');
  });
});
