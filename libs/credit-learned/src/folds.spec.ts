import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldsOf, tooLittle } from './folds.js';

/** Trajectories of some groups, of 0 to 3 turns; some branch off another one, and parents may lead in a circle. */
const batches = fc
  .array(fc.record({ group: fc.nat(6), turns: fc.nat(3), parent: fc.option(fc.nat(30), { nil: null }) }), {
    minLength: 3,
    maxLength: 30,
  })
  .map((rows) => {
    const turnOffsets = Int32Array.of(0, ...rows.map(({ turns }) => turns));
    rows.forEach((_, i) => (turnOffsets[i + 1] += turnOffsets[i]));
    return {
      groupOf: Int32Array.from(rows, ({ group }) => group),
      parentOf: Int32Array.from(rows, ({ parent }) => (parent === null || parent >= rows.length ? -1 : parent)),
      turnOffsets,
    };
  });

it.each(['group', 'trajectory'] as const)(
  'each trajectory with turns is scored once, by a model that saw nothing of its %s',
  (foldsBy) => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 3, max: 6 }), fc.nat(9), (batch, wanted, seed) => {
        const folds = foldsOf(batch, { folds: wanted, foldsBy, seed });
        const withTurns = [...batch.groupOf.keys()].filter((i) => batch.turnOffsets[i + 1] > batch.turnOffsets[i]);
        expect(folds.flatMap(({ heldOut }) => [...heldOut]).sort((a, b) => a - b)).toEqual(withTurns);
        for (const { training, validation, heldOut } of folds) {
          if (folds.length < 3) continue; // too little to learn from
          expect(Math.min(training.length, validation.length, heldOut.length)).toBeGreaterThan(0);
          const parts = [training, validation, heldOut].map((rows) => new Set(rows));
          const related = (i: number, j: number) =>
            foldsBy === 'group' ? batch.groupOf[i] === batch.groupOf[j] : i === j || batch.parentOf[i] === j;
          for (const [a, b] of [
            [0, 1],
            [0, 2],
            [1, 2],
          ])
            // prettier-ignore
            for (const i of parts[a]) for (const j of parts[b]) expect(related(i, j) || related(j, i)).toBe(false);
        }
      }),
    );
  },
);

it('deals the same seed out alike, and another one otherwise', () => {
  const batch = {
    groupOf: Int32Array.from({ length: 40 }, (_, i) => i % 10),
    parentOf: new Int32Array(40).fill(-1),
    turnOffsets: Int32Array.from({ length: 41 }, (_, i) => i),
  };
  const deal = (seed: number) => foldsOf(batch, { folds: 5, foldsBy: 'group', seed });
  expect(deal(1)).toEqual(deal(1));
  expect(deal(2)).not.toEqual(deal(1));
});

describe('too little to learn from', () => {
  const params = { minTrajectories: 3, foldsBy: 'group' } as const;
  /** Groups of one trajectory each, of so many turns. */
  const alone = (...turns: number[]) => ({
    groupOf: Int32Array.from(turns.keys()),
    parentOf: new Int32Array(turns.length).fill(-1),
    turnOffsets: Int32Array.from([0, ...turns].map((_, i, all) => all.slice(0, i + 1).reduce((a, b) => a + b, 0))),
  });

  it('are groups of which all but two are without turns', () => {
    const batch = { ...alone(1, 1, 1, 0), groupOf: Int32Array.of(0, 1, 1, 2) };
    expect(tooLittle(batch, Float64Array.of(0, 1, 0, 1), params)).toContain('2 groups');
    expect(tooLittle(alone(1, 1, 1, 0), Float64Array.of(0, 1, 0, 1), params)).toBeNull();
  });

  it('are ends of which all but those without turns are equal', () => {
    expect(tooLittle(alone(1, 1, 1, 0), Float64Array.of(1, 1, 1, 0), params)).toContain('ended alike');
  });
});
