import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEstimator } from './estimator.js';
import type { TrajectoryRecords } from './estimate.js';
import { needsOf } from './needs.js';
import { runEstimator } from './run-estimator.js';
import { Flag, signalValues } from './signal-kinds.js';

/** Counts words and list entries, to show what an estimator is given. */
const counting = defineEstimator({
  id: 'counting',
  version: 1,
  title: 'Counting',
  citation: {},
  status: 'own',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.tag', 'turn.verdicts'],
  accepts: ['turn.note', 'turn.isValid'],
  kinds: { 'turn.tag': 'text', 'turn.verdicts': z.array(Flag), 'turn.note': 'text' },
  params: z.strictObject({ perWord: z.number().default(10) }),
  estimate(_, columns, { perWord }) {
    const { 'turn.tag': tag, 'turn.verdicts': verdicts, 'turn.note': note, 'turn.isValid': isValid } = columns;
    const passed = verdicts.map((flags) => flags!.reduce((sum, flag) => sum + flag, 0));
    const values = passed.map((count, t) => count + perWord * tag[t]!.length + 100 * (note?.[t] ?? '').length);
    return { level: 'turn', values: Float64Array.from(values, (value, t) => value + 1000 * (isValid?.[t] ?? 0)) };
  },
});

type Signals = NonNullable<TrajectoryRecords[number]['turns'][number]['signals']>;
const batch = (...turns: Signals[]) =>
  trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: turns.map((signals) => ({ signals })) }]);

describe('signals that are no numbers', () => {
  it('come as texts and as what their schema makes of them', () => {
    const trajectories = batch({ tag: 'plan', verdicts: [true, 0, 1] }, { tag: 'x', verdicts: [], note: 'ab' });
    const outcome = runEstimator(counting, trajectories);
    expect(outcome.kind === 'credit' && [...outcome.credit.values]).toEqual([42, 210]);
  });

  it('are flags in either spelling where they are flags', () => {
    const trajectories = batch({ tag: '', verdicts: [], isValid: true }, { tag: '', verdicts: [], isValid: 1 });
    const outcome = runEstimator(counting, trajectories);
    expect(outcome.kind === 'credit' && [...outcome.credit.values]).toEqual([1000, 1000]);
  });

  it('are missing where they are absent, null, or of another kind', () => {
    const trajectories = batch({ tag: 'plan', verdicts: [2] }, { tag: 7, verdicts: 'yes' }, { tag: null });
    expect(runEstimator(counting, trajectories)).toEqual({
      kind: 'missing',
      missing: [
        { path: 'turn.tag', rows: 2, of: 3 },
        { path: 'turn.verdicts', rows: 3, of: 3 },
      ],
    });
  });

  it('are nothing at all in a batch without turns', () => {
    const outcome = runEstimator(counting, batch());
    expect(outcome.kind === 'credit' && [...outcome.credit.values]).toEqual([]);
  });

  it('have the batch loaded with its texts, beside which they lie', () => {
    expect(needsOf(counting, {}).texts).toBe(true);
    expect(needsOf({ ...counting, requires: [], accepts: ['turn.isValid'] }, {}).texts).toBe(false);
  });

  it('are read as numbers where no kind is given', () => {
    expect(signalValues(batch({ tag: 'plan' }), 'turn.tag', undefined)).toBe(null);
    expect(signalValues(batch({ isValid: true }), 'turn.isValid', undefined)).toEqual(Float64Array.of(1));
  });
});
