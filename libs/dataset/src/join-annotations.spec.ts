import { describe, expect, it } from 'vitest';
import { joinAnnotations, type Annotation } from './join-annotations.js';
import { trajectoryBatch } from './trajectory-batch.builder.js';
import type { SignalPath } from './trajectory-batch.js';

const trajectories = trajectoryBatch([
  { id: 'a', group: 'g', trainingStep: 0, signals: { verdict: 1 }, turns: [{ reward: 1 }, { reward: 2 }] },
  { id: 'b', group: 'g', trainingStep: 0, turns: [{ reward: 3 }] },
]);
const annotation = (position: number, signals: Annotation['signals'], more: Partial<Annotation> = {}): Annotation => ({
  position,
  trajectory: 'a',
  turn: 1,
  annotator: 'ann',
  attempt: 0,
  signals,
  ...more,
});
const joined = (path: SignalPath, ...annotations: Annotation[]) =>
  joinAnnotations(trajectories, annotations).columns.get(path)?.values;

describe('joinAnnotations', () => {
  it('puts a signal on its turn or its trajectory', () => {
    const annotations = [
      annotation(7, { label: -1 }),
      annotation(8, { verdict: true }, { trajectory: 'b', turn: null }),
    ];
    expect(joined('turn.label', ...annotations)).toEqual(Float64Array.of(NaN, -1, NaN));
    expect(joined('trajectory.verdict', ...annotations)).toEqual(Float64Array.of(1, 1));
  });

  it('lets the latest position win, in whatever order they come, and keeps the votes', () => {
    const votes = [
      annotation(9, { label: 1 }, { annotator: 'zoe' }),
      annotation(7, { label: -1 }),
      annotation(8, { label: 0 }, { attempt: 1 }),
    ];
    expect(joined('turn.label', ...votes)).toEqual(Float64Array.of(NaN, 1, NaN));
    expect(joined('turn.label@ann', ...votes)).toEqual(Float64Array.of(NaN, -1, NaN));
    expect(joined('turn.label@ann#1', ...votes)).toEqual(Float64Array.of(NaN, 0, NaN));
    expect(joined('turn.label@zoe', ...votes)).toEqual(Float64Array.of(NaN, 1, NaN));
  });

  it('overrides the trainer, takes back with null, and leaves the batch it was given alone', () => {
    expect(joined('turn.reward', annotation(1, { reward: 5 }))).toEqual(Float64Array.of(1, 5, 3));
    expect(joined('turn.reward', annotation(1, { reward: null }))).toEqual(Float64Array.of(1, NaN, 3));
    expect(trajectories.columns.get('turn.reward')?.values).toEqual(Float64Array.of(1, 2, 3));
  });

  it('keeps texts and JSON', () => {
    expect(joined('turn.note', annotation(1, { note: 'odd' }))).toEqual([null, 'odd', null]);
    expect(joined('turn.reward', annotation(1, { reward: [1] }))).toEqual([1, [1], 3]);
  });

  it('leaves out what speaks of no row here', () => {
    const elsewhere = [
      annotation(1, { label: 1 }, { trajectory: 'of another step' }),
      annotation(1, { label: 1 }, { trajectory: 'b', turn: 1 }),
      annotation(1, { label: 1 }, { turn: -1 }),
    ];
    expect(joinAnnotations(trajectories, elsewhere)).toEqual(trajectories);
    expect(joinAnnotations(trajectories, [])).toBe(trajectories);
  });
});
