import { expect, it } from 'vitest';
import { withAnnotations } from './with-annotations.js';
import { mostDisputed } from './disputed.js';
import type { Lane } from './lanes.js';
import type { AnnotationOfTrajectory, Turn } from './queries.js';
import { tokenColumns } from './token-columns.js';

const turn = (index: number, signals: object, ...credits: number[]): Turn => ({
  index,
  cursor: '',
  state: '',
  action: '',
  reward: null,
  signals,
  credit: credits.map((credit, i) => ({ estimator: String(i), credit, level: 'turn' })),
});
const lane = (i: number): Lane => ({
  name: String(i),
  isTruth: false,
  full: 2,
  valueOf: ({ credit }) => credit?.[i]?.credit ?? null,
});

it('finds the turn whose weaker opponent is surest', () => {
  const turns = [turn(0, {}, 2, -0.1, 0), turn(1, {}, 0.5, -1, 0), turn(2, {}, 2, 2, 2)];
  expect(mostDisputed(turns, [0, 1, 2].map(lane))).toBe(1);
  expect(mostDisputed([turns[2]], [0, 1, 2].map(lane))).toBe(null);
  expect(mostDisputed(turns, [])).toBe(null);
});

it('gives a turn the last word that was said of it', () => {
  const said = (of: number | null, humanLabel: number, failure: string | null = null): AnnotationOfTrajectory => ({
    position: 1,
    turn: of,
    annotator: 'ann',
    signals: { humanLabel },
    rationale: null,
    failure,
    recordedAt: null,
  });
  const [first, second] = withAnnotations(
    [turn(0, { entropy: 1, humanLabel: 0 }), turn(1, {})],
    [said(0, 1), said(0, -1), said(null, 1), said(1, 1, 'the judge answered nothing')],
  );
  expect(first.signals).toEqual({ entropy: 1, humanLabel: -1 });
  expect(second.signals).toEqual({});
});

it('reads token columns however they were logged, and leaves texts out', () => {
  const base64 = (array: Float32Array | Uint16Array) => btoa(String.fromCharCode(...new Uint8Array(array.buffer)));
  const columns = tokenColumns({
    logprob: [-1, null, 0],
    entropy: { f32: base64(Float32Array.of(0.5, Number.NaN, 2)) },
    half: { f16: base64(Uint16Array.of(0x3c00, 0xc000, 0x0001)) },
    tokenRole: ['decision', 'content'],
  });
  expect(Object.fromEntries(columns)).toEqual({
    logprob: [-1, null, 0],
    entropy: [0.5, null, 2],
    half: [1, -2, 2 ** -24],
  });
  expect(tokenColumns(null).size).toBe(0);
});
