import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatTrajectories } from './concat.js';
import { sliceTrajectories } from './slice.js';
import { trajectoryBatch } from './trajectory-batch.builder.js';
import type { TrajectoryBatch } from './trajectory-batch.js';

const turn = fc.record({
  state: fc.constantFrom('north', 'south'),
  action: fc.constantFrom('go', 'stay'),
  reward: fc.option(fc.integer(), { nil: null }),
  signals: fc.record({ note: fc.string(), odd: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] }),
  tokens: fc.array(fc.integer(), { maxLength: 3 }).map((logprob) => ({ logprob })),
});
const records = fc
  .array(
    fc.record({
      group: fc.constantFrom('g', 'h'),
      trainingStep: fc.constantFrom(1, 2),
      parent: fc.record({ trajectory: fc.constantFrom('t0', 't2', 't4'), turn: fc.constant(0) }),
      outcomeReward: fc.integer(),
      turns: fc.array(turn, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((rows) => rows.map((row, i) => ({ id: `t${i}`, ...row })));

/** The parts of a batch that do not hang on what else the batch holds. */
const rowsOf = (batch: TrajectoryBatch) =>
  batch.ids.map((id, i) => ({
    id,
    group: batch.groups[batch.groupOf[i]],
    trainingStep: batch.trainingStep[i],
    parent: batch.ids[batch.parentOf[i]],
    columns: [...batch.columns]
      .filter(([path]) => path.startsWith('trajectory.'))
      .map(([path, { values }]) => [path, values[i]]),
    turns: Array.from({ length: batch.turnOffsets[i + 1] - batch.turnOffsets[i] }, (_, turn) => {
      const at = batch.turnOffsets[i] + turn;
      const [from, to] = [batch.tokenOffsets[at], batch.tokenOffsets[at + 1]];
      return {
        state: batch.texts?.states[batch.stateKey[at]],
        action: batch.texts?.actions[batch.actionKey[at]],
        reward: batch.columns.get('turn.reward')?.values[at],
        note: batch.columns.get('turn.note')?.values[at] ?? null,
        logprob: [...(batch.columns.get('token.logprob')?.values ?? [])].slice(from, to),
      };
    }),
  }));

describe('sliceTrajectories', () => {
  it('says of its rows what the whole says', () => {
    fc.assert(
      fc.property(records, fc.nat(7), fc.nat(7), (all, a, b) => {
        const [from, to] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)];
        const whole = trajectoryBatch(all);
        const ids = whole.ids.slice(from, to);
        const expected = rowsOf(whole)
          .slice(from, to)
          .map((row) => ({ ...row, parent: ids.find((id) => id === row.parent) }));
        const slice = sliceTrajectories(whole, from, to - from);
        expect(rowsOf(slice)).toEqual(expected);
        expect(new Set(slice.groupOf).size).toBe(slice.groupCount);
      }),
    );
  });

  it('gives the whole itself where all rows are asked for', () => {
    const whole = trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [] }]);
    expect(sliceTrajectories(whole, 0, 1)).toBe(whole);
  });
});

describe('concatTrajectories', () => {
  it('puts together what was cut apart', () => {
    fc.assert(
      fc.property(records, fc.nat(7), (all, at) => {
        const whole = trajectoryBatch(all);
        const cut = Math.min(at, all.length);
        const parts = [sliceTrajectories(whole, 0, cut), sliceTrajectories(whole, cut, all.length - cut)];
        const joined = concatTrajectories(parts, whole.texts);
        // A parent on the other side of the cut is lost to both sides.
        const sameSide = (id: number, parent: number) => parent >= 0 && id < cut === parent < cut;
        const parentOf = whole.parentOf.map((parent, i) => (sameSide(i, parent) ? parent : -1));
        expect(joined).toEqual({ ...whole, parentOf });
      }),
    );
  });

  it('fills what a batch does not say, and keeps float32 only among its own', () => {
    const first = trajectoryBatch([
      { id: 'a', group: 'g', trainingStep: 0, outcomeReward: 1, turns: [{ reward: 1, tokens: { logprob: [-1] } }] },
    ]);
    const second = trajectoryBatch([
      { id: 'b', group: 'g', trainingStep: 0, signals: { note: 'x' }, turns: [{ tokens: { logprob: [-2, -3] } }] },
    ]);
    const third = trajectoryBatch([{ id: 'c', group: 'g', trainingStep: 1, signals: { note: 7 }, turns: [] }]);
    const { columns, groupOf } = concatTrajectories([first, second, third], null);
    expect(columns.get('trajectory.outcomeReward')).toEqual({ kind: 'number', values: Float64Array.of(1, NaN, NaN) });
    expect(columns.get('trajectory.note')).toEqual({ kind: 'json', values: [null, 'x', 7] });
    expect(columns.get('token.logprob')).toEqual({ kind: 'number', values: Float32Array.of(-1, -2, -3) });
    expect([...groupOf]).toEqual([0, 0, 1]);
  });
});
