import { encodeSegment, openSegment, stepBatch, type Segment } from '#lib/columnar';
import { trajectoryBatch, withOwnTexts, type TrajectoryBatch } from '#lib/dataset';
import { DIAGNOSTICS, measureStep } from '#lib/diagnostics';
import { seededRandom } from '#lib/numeric';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.restoreAllMocks());

/** 60 trajectories of 20 turns in 900 states: more visits than a sample keeps. */
const random = seededRandom('sources');
const records = Array.from({ length: 60 }, (_, i) => ({
  id: `t${i}`,
  group: `g${i >> 2}`,
  trainingStep: 7,
  outcomeReward: Number(random.next() < 0.4),
  turns: Array.from({ length: 20 }, () => ({
    ...(random.next() < 0.9 && { state: `${'door, hall, roof; '.repeat(9)}${random.integer(900)} ä` }),
    ...(random.next() < 0.95 && { action: `go ${random.integer(40)}` }),
    reward: random.integer(3),
  })),
}));
const earlier = { ...records[0], id: 'before', trainingStep: 6 };
const segmentOf = (from: number, to: number): Segment => {
  const rows = [...(from === 0 ? [earlier] : []), ...records.slice(from, to)];
  const { numeric, text } = encodeSegment(
    trajectoryBatch(rows),
    Float64Array.from(rows, (_, i) => 2 * from + i),
  );
  return openSegment(numeric, text);
};
const batches = (): Record<string, TrajectoryBatch> => {
  const query = { trainingStep: 7, asOf: Infinity };
  return {
    'the log': trajectoryBatch(records),
    'a segment': withOwnTexts(stepBatch([segmentOf(0, 60)], query)),
    'three segments': withOwnTexts(stepBatch([segmentOf(0, 23), segmentOf(23, 41), segmentOf(41, 60)], query)),
  };
};
const measured = (trajectories: TrajectoryBatch, diagnostics = DIAGNOSTICS) =>
  diagnostics.map((diagnostic) => [
    diagnostic.id,
    JSON.stringify(measureStep(diagnostic, { trainingStep: 7, trajectories, metrics: {}, checkpoint: null })),
  ]);
const coverage = DIAGNOSTICS.filter(({ id }) => id === 'dataset-coverage');

it('measures the same of a step, bit for bit, wherever it is read from', () => {
  const { 'the log': log, ...read } = batches();
  const expected = measured(log);
  for (const [source, trajectories] of Object.entries(read)) {
    expect(measured(trajectories), source).toEqual(expected);
  }
});

it('reads no text to sample visits', () => {
  const { 'the log': _, ...read } = batches();
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  for (const trajectories of Object.values(read)) expect(measured(trajectories, coverage)[0][1]).toContain('"hashes"');
  expect(decode).not.toHaveBeenCalled();
});
