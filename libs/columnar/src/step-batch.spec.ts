import { trajectoryBatch, type Annotation, type TrajectoryBatch } from '#lib/dataset';
import type { TrajectoryRecord } from '#lib/protocol';
import { describe, expect, it, vi } from 'vitest';
import { encodeSegment } from './encode-segment.js';
import { openSegment, type Segment } from './open-segment.js';
import { rowsOfStep, stepBatch } from './step-batch.js';

type Row = TrajectoryRecord & { end: number };

function files(rows: readonly Row[]) {
  return encodeSegment(
    trajectoryBatch(rows),
    Float64Array.from(rows, ({ end }) => end),
    rows.map(({ parent }) => parent?.trajectory ?? null),
  );
}
function segment(...rows: Row[]): Segment {
  const { numeric, text } = files(rows);
  return openSegment(numeric, text);
}
function numericSegment(...rows: Row[]): Segment {
  return openSegment(files(rows).numeric);
}
const row = (id: string, trainingStep: number, end: number, states: string[], more: Partial<Row> = {}): Row => ({
  id,
  group: 'g',
  trainingStep,
  end,
  turns: states.map((state, i) => ({ state, action: `act ${i}`, reward: i })),
  ...more,
});

const A = [row('a0', 6, 3, ['x']), row('a1', 7, 5, ['door', 'hall'], { outcomeReward: 1 }), row('a2', 7, 9, ['door'])];
const B = [
  row('b0', 7, 12, ['hall', 'roof'], { signals: { score: 4 }, parent: { trajectory: 'a1', turn: 0 } }),
  row('b1', 7, 14, ['door'], { group: 'h' }),
  row('b2', 8, 15, ['x']),
];
const everything = { trainingStep: 7, asOf: Infinity };
const plain = (rows: readonly Row[]) => trajectoryBatch(rows);

/** By text, so that batches of different numberings can be compared. */
function told(batch: TrajectoryBatch) {
  return {
    ...batch,
    columns: new Map([...batch.columns].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    stateKey: Array.from(batch.stateKey, (key) => batch.texts?.states[key]),
    actionKey: Array.from(batch.actionKey, (key) => batch.texts?.actions[key]),
    texts: null,
  };
}

describe('stepBatch', () => {
  it('gives what one segment of all rows would, in the order in which they ended', () => {
    const expected = plain([...A.slice(1), ...B.slice(0, 2)]);
    expect(told(stepBatch([segment(...A), segment(...B)], everything))).toEqual(told(expected));
    expect(stepBatch([segment(...B), segment(...A)], everything).ids).toEqual(['a1', 'a2', 'b0', 'b1']);
    expect(told(stepBatch([segment(...A, ...B)], everything))).toEqual(told(expected));
  });

  it('gives equal states of different segments equal keys, also without their texts', () => {
    const { stateKey, actionKey, texts } = stepBatch([numericSegment(...A), numericSegment(...B)], everything);
    expect([...stateKey]).toEqual([0, 1, 0, 1, 2, 0]);
    expect([...actionKey]).toEqual([0, 1, 0, 0, 1, 0]);
    expect(texts).toBeNull();
  });

  it.each([
    [5, []],
    [9, ['a1']],
    [14, ['a1', 'a2', 'b0']],
    [15, ['a1', 'a2', 'b0', 'b1']],
  ])('sees what ended before position %i and nothing else', (asOf, ids) => {
    const segments = [segment(...A), segment(...B)];
    const query = { trainingStep: 7, asOf };
    expect(stepBatch(segments, query).ids).toEqual(ids);
    expect(segments.map((s) => rowsOfStep(s, query).rowCount).reduce((sum, rows) => sum + rows)).toBe(ids.length);
  });

  it('leaves out what a rewind superseded', () => {
    expect(stepBatch([segment(...A), segment(...B)], { ...everything, from: 9 }).ids).toEqual(['a2', 'b0', 'b1']);
    expect(stepBatch([segment(...A)], { trainingStep: 7, asOf: 5, from: 9 }).ids).toEqual([]);
  });

  it('links a branch to its parent in another segment, if that is seen', () => {
    const segments = [segment(...A), segment(...B)];
    expect([...stepBatch(segments, everything).parentOf]).toEqual([-1, -1, 0, -1]);
    expect([...stepBatch(segments, { ...everything, from: 9 }).parentOf]).toEqual([-1, -1, -1]);
  });

  it('copies no column where the rows lie in one segment', () => {
    const { numeric } = files([...A, ...B]);
    const { stateKey, columns } = stepBatch([openSegment(numeric)], everything);
    expect(stateKey.buffer).toBe(numeric.buffer);
    expect((columns.get('turn.reward')!.values as Float64Array).buffer).toBe(numeric.buffer);
  });

  it('joins in the annotations of before asOf', () => {
    const judged = (position: number, score: number): Annotation => ({
      position,
      trajectory: 'a2',
      turn: 0,
      annotator: 'judge',
      attempt: 0,
      signals: { score },
    });
    const annotations = [judged(20, 0.25), judged(30, 0.75)];
    const scores = (asOf: number) =>
      stepBatch([segment(...A)], { trainingStep: 7, asOf, annotations }).columns.get('turn.score')?.values;
    expect(scores(20)).toBeUndefined();
    expect(scores(30)).toEqual(Float64Array.of(NaN, NaN, 0.25));
    expect(scores(31)).toEqual(Float64Array.of(NaN, NaN, 0.75));
  });

  it('refuses segments that overlap', () => {
    expect(() => stepBatch([segment(...A), segment(...A)], everything)).toThrow('segments overlap');
  });

  it('is empty where no segment has the step', () => {
    expect(stepBatch([segment(...A)], { trainingStep: 99, asOf: Infinity })).toEqual(trajectoryBatch([]));
    expect(stepBatch([], everything)).toEqual(trajectoryBatch([]));
  });
});

it('decodes the texts that somebody asks for, and each of them once for all training steps', () => {
  const tokens = { logprob: [-1, -2], text: ['Wait', ' no'] };
  const talking = A.map((each) => ({
    ...each,
    signals: { votes: [1, 2] },
    turns: each.turns.map((turn) => ({ ...turn, tokens, signals: { toolName: 'lamp' } })),
  }));
  const { numeric, text } = files(talking);
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  const parse = vi.spyOn(JSON, 'parse');
  const calls = () => [decode.mock.calls.length, parse.mock.calls.filter(([said]) => said.startsWith('[')).length];
  const opened = openSegment(numeric, text);
  const steps = [6, 7].map((trainingStep) => stepBatch([opened], { ...everything, trainingStep }));
  const before = calls();
  expect(steps.map(({ columns }) => columns.get('token.text')!.kind)).toEqual(['text', 'text']);
  expect(steps.map(({ columns }) => columns.get('trajectory.votes')!.kind)).toEqual(['json', 'json']);
  expect(calls()).toEqual(before);
  expect(steps.map(({ columns }) => columns.get('token.text')!.values)).toEqual([['Wait', ' no'], Array.from({ length: 6 }, (_, i) => ['Wait', ' no'][i % 2])]); // prettier-ignore
  expect(calls()).toEqual([before[0] + 1, 0]);
  expect(steps.map(({ columns }) => columns.get('trajectory.votes')!.values)).toEqual([[[1, 2]], [[1, 2], [1, 2]]]); // prettier-ignore
  expect(calls()).toEqual([before[0] + 2, 3]);
  expect(steps.map(({ texts }) => texts!.states.length)).toEqual([3, 3]);
  expect(calls()).toEqual([before[0] + 3, 3]);
  vi.restoreAllMocks();
});
