import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { saidOverPoison } from '../../../test/support/poisoned-memory.js';
import { repeatRows } from './offsets.js';
import { repeatedPairLabels } from './pair-labels.js';
import { discountedSums } from './scans.js';
import { segmentCentred } from './segment-centred.js';
import { unsetDoubles, unsetInts } from './unset.js';

const value = fc.constantFrom(0, 1, -1, 0.1, 1e9, NaN);

/** Rows of children: some before the first row and after the last one belong to none, and some rows have none. */
const ragged = fc
  .record({
    before: fc.constantFrom(0, 0, 2),
    rows: fc.array(fc.nat(3), { maxLength: 5 }),
    after: fc.constantFrom(0, 0, 2),
  })
  .chain(({ before, rows, after }) => {
    const offsets = Int32Array.from([before, ...rows.map((_, i) => before + sum(rows.slice(0, i + 1)))]);
    const children = before + sum(rows) + after;
    const columnOf = <T>(of: fc.Arbitrary<T>, length: number) => fc.array(of, { minLength: length, maxLength: length });
    return fc.record({
      offsets: fc.constant(offsets),
      ofRows: columnOf(value, rows.length),
      keys: columnOf(fc.integer({ min: -1, max: 2 }), rows.length),
      ofChildren: columnOf(value, children),
      right: columnOf(fc.integer({ min: -1, max: 3 }), children),
      label: columnOf(fc.constantFrom(-1, 0, 1), children),
    });
  });

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe('memory that nobody set', () => {
  it('is poisoned here, so that what reads it is seen', () => {
    const [some, others] = saidOverPoison(() => [unsetDoubles(3), unsetInts(3)] as const);
    for (const k of [0, 1]) expect(some[k][2]).not.toBe(others[k][2]);
    expect(some.map(({ length, byteOffset }) => [length, byteOffset])).toEqual([[3, 0], [3, 0]]); // prettier-ignore
  });

  it.each<[string, (drawn: typeof ragged extends fc.Arbitrary<infer T> ? T : never) => unknown]>([
    ['repeatRows', ({ ofRows, offsets }) => repeatRows(Float64Array.from(ofRows), offsets)],
    [
      'repeatRows with a mask',
      ({ ofRows, offsets, label }) => repeatRows(Float64Array.from(ofRows), offsets, Float64Array.from(label)),
    ],
    ['discountedSums', ({ ofChildren, offsets }) => discountedSums(Float64Array.from(ofChildren), offsets, 0.9)],
    [
      'repeatedPairLabels',
      ({ keys, offsets, right }) => repeatedPairLabels(Int32Array.from(keys), offsets, Int32Array.from(right)),
    ],
    [
      'segmentCentred',
      ({ ofChildren, right }) =>
        segmentCentred(
          Float64Array.from(ofChildren),
          Int32Array.from(right, (key) => key + 1),
          5,
        ),
    ],
  ])('is read by nobody in %s', (_, said) => {
    fc.assert(
      fc.property(ragged, (drawn) => {
        const [some, others] = saidOverPoison(() => said(drawn));
        expect(some).toEqual(others);
      }),
      { numRuns: 300 },
    );
  });

  it('is taken where it is tried with poison, and nowhere else', () => {
    const root = join(import.meta.dirname, '../../..');
    const takers = globSync('{libs,apps}/**/*.ts', { cwd: root })
      .filter((file) => !/node_modules|spec\.ts$/.test(file))
      .filter((file) => /\b(unset(Doubles|Ints)|allocUnsafe(Slow)?)\(/.test(readFileSync(join(root, file), 'utf8')))
      .toSorted();
    expect(takers).toEqual([
      'libs/credit/src/estimators/gigpo.ts', // libs/credit/src/unset-memory.spec.ts
      'libs/numeric/src/offsets.ts',
      'libs/numeric/src/pair-labels.ts',
      'libs/numeric/src/scans.ts',
      'libs/numeric/src/segment-centred.ts',
      'libs/numeric/src/unset.ts',
      'libs/storage/src/read-whole.ts', // libs/storage/src/read-whole.spec.ts
    ]);
  });
});
