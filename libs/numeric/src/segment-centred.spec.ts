import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { segmentCentred } from './segment-centred.js';
import { segmentMoments } from './segment-moments.js';

const of = (...values: number[]) => Float64Array.from(values);

/** By its definition, with the spreads. */
function defined(values: Float64Array, segmentOf: Int32Array, segmentCount: number): number[] {
  const { weight, mean, std } = segmentMoments(values, null, segmentOf, segmentCount);
  return Array.from(values, (value, i) => {
    const s = segmentOf[i];
    return weight[s] === 1 || std[s] === 0 ? 0 : value - mean[s];
  });
}

it('takes the mean from each value, and gives 0 to a segment of one or without spread', () => {
  const segmentOf = Int32Array.of(0, 0, 1, 2, 2);
  expect([...segmentCentred(of(1, 4, 7, 3, 3), segmentOf, 3)]).toEqual([-1.5, 1.5, 0, 0, 0]);
  expect([...segmentCentred(of(), new Int32Array(0), 0)]).toEqual([]);
});

it('says to the last bit what the moments say, however small or large the differences', () => {
  const value = fc.oneof(
    fc.double({ min: -10, max: 10, noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(
      0,
      1,
      0.1 + 0.2,
      0.3,
      1e-12,
      2e-12,
      3e-12,
      1e-13,
      1e308,
      -1e308,
      Infinity,
      -Infinity,
      1e16,
      1e16 + 2,
    ),
  );
  const row = fc.tuple(value, fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
      const values = Float64Array.from(rows, ([x]) => x);
      const segmentOf = Int32Array.from(rows, ([, s]) => s);
      expect([...segmentCentred(values, segmentOf, 4)]).toEqual(defined(values, segmentOf, 4));
    }),
    { numRuns: 500 },
  );
});
