import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBatch, MAX_BATCH_EVENTS } from './check-batch.js';
import type { LineIssue } from './issues.js';

const AT = '2026-11-21T12:00:00Z';
const turn = {
  type: 'turn.recorded',
  at: AT,
  trajectory: 't',
  group: 'g',
  trainingStep: 0,
  turn: 0,
  state: 's',
  action: 'a',
};
const bytes = (...lines: unknown[]) =>
  new TextEncoder().encode(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));

function issuesOf(batch: Uint8Array): LineIssue[] {
  try {
    checkBatch(batch);
  } catch (error) {
    if (error instanceof RecreditError && error.code === 'events.invalid') return error.details.issues as LineIssue[];
    throw error;
  }
  return [];
}

describe('checkBatch', () => {
  it('reads events in order and keeps fields it does not know', () => {
    const events = checkBatch(bytes({ ...turn, mood: 'curious' }, { ...turn, turn: 1 }, ''));
    expect(events).toMatchObject([{ turn: 0, mood: 'curious' }, { turn: 1 }]);
  });

  it.each([
    ['{', '', 'one JSON object'],
    ['[]', '', 'one JSON object'],
    [{ type: 'turn.taken', at: AT }, '/type', 'one of'],
    [{ type: 'run.erased', at: AT }, '/type', 'one of'],
    [{ ...turn, version: 2 }, '/version', 'a version from 1 to 1'],
    [{ ...turn, at: 'yesterday' }, '/at', 'text that matches'],
    [{ ...turn, turn: -1 }, '/turn', 'must be >= 0'],
    [{ ...turn, turn: undefined }, '/turn', 'a value'],
    [{ ...turn, group: 'a\u0000b' }, '/group', 'text that matches'],
    [{ ...turn, group: '\ud800' }, '/group', 'text that matches'],
    [JSON.stringify({ ...turn, reward: 0 }).replace('"reward":0', '"reward":1e999'), '/reward', 'number'],
    [JSON.stringify({ ...turn, signals: { x: 0 } }).replace('"x":0', '"x":1e999'), '/signals/x', ''],
    [
      `${JSON.stringify(turn).slice(0, -1)},"signals":{"x":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
      '',
      'up to 64 levels',
    ],
    [
      `${JSON.stringify(turn).slice(0, -1)},"unknown":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
      '',
      'up to 64 levels',
    ],
    [{ ...turn, tokens: { logprob: [-1, -2], entropy: [1] } }, '/tokens/entropy', '2 entries'],
    [{ ...turn, tokens: { logprob: { f32: 'AAA=' } } }, '/tokens/logprob', 'base64'],
    [{ ...turn, tokens: { logprob: { f32: 'AACAfw==' } } }, '/tokens/logprob/0', 'a finite number'],
  ])('refuses %j and says where', (line, pointer, expected) => {
    const issues = issuesOf(bytes(turn, line));
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ line: 2, pointer });
    expect(issues[0].expected).toContain(expected);
  });

  it('refuses a turn index that skips or repeats within a batch, and leaves gaps across batches to the projector', () => {
    expect(issuesOf(bytes(turn, { ...turn, turn: 2 }))).toMatchObject([{ line: 2, pointer: '/turn', found: '2' }]);
    expect(issuesOf(bytes(turn, turn))).toMatchObject([{ line: 2, pointer: '/turn', found: '0' }]);
    expect(issuesOf(bytes({ ...turn, turn: 7 }))).toEqual([]);
  });

  it('refuses more than a thousand different names of signals in an event', () => {
    const named = (from: number, n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`s${from + i}`, 1]));
    const events = [
      { ...turn, signals: named(0, 600) },
      { ...turn, turn: 1, signals: named(600, 1000) },
    ];
    expect(issuesOf(bytes(...events))).toEqual([]);
    expect(issuesOf(bytes(...events, { ...turn, turn: 2, signals: named(0, 1001) }))).toMatchObject([
      { line: 3, pointer: '/signals', found: '1001' },
    ]);
    const whole = { type: 'trajectory.recorded', at: AT, id: 't', group: 'g', trainingStep: 0 };
    const turns = [
      { tokens: {} },
      { tokens: Object.fromEntries(Object.keys(named(0, 1001)).map((name) => [name, [1]])) },
    ];
    expect(issuesOf(bytes({ ...whole, turns }))).toMatchObject([{ line: 1, pointer: '/turns/1/tokens' }]);
  });

  it('names the line whose bytes are not UTF-8', () => {
    const batch = bytes(turn, { ...turn, turn: 1 });
    batch[batch.length - 5] = 0xff;
    expect(issuesOf(batch)).toMatchObject([{ line: 2, expected: 'UTF-8' }]);
  });

  it('lists twenty issues and no more', () => {
    expect(issuesOf(bytes(...Array<string>(50).fill('no')))).toHaveLength(20);
  });

  it('refuses an empty batch and one of 10,001 events', () => {
    expect(issuesOf(new Uint8Array())).toHaveLength(1);
    const many = bytes(...Array.from({ length: MAX_BATCH_EVENTS + 1 }, () => ({ type: 'run.ended', at: AT })));
    expect(() => checkBatch(many)).toThrow(expect.objectContaining({ code: 'batch.too-large' }));
  });

  it('answers any bytes with events or a refusal, never with another error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json().map((json) => bytes(json)),
          fc.uint8Array(),
        ),
        (batch) => {
          issuesOf(batch);
        },
      ),
    );
  });
});
