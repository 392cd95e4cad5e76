import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discountedSums, temporalDifferences } from './scans.js';

const of = (...values: number[]) => Float64Array.from(values);
const column = fc.float64Array({ minLength: 6, maxLength: 6, min: -100, max: 100, noNaN: true });
// rows of 2, 0 and 4 positions
const OFFSETS = Int32Array.of(0, 2, 2, 6);

describe('discountedSums', () => {
  it('runs backwards inside each row', () => {
    expect([...discountedSums(of(1, 2, 0, 0, 0, 8), OFFSETS, 0.5)]).toEqual([2, 2, 1, 2, 4, 8]);
  });

  it('skips masked positions: no value read, no discount for the gap', () => {
    const mask = Float32Array.of(1, 1, 1, 0, 0, 1);
    expect([...discountedSums(of(1, 2, 1, NaN, 9, 8), OFFSETS, 0.5, mask)]).toEqual([2, 2, 5, 0, 0, 8]);
  });

  it('leaves 0 on positions that belong to no row', () => {
    expect([...discountedSums(of(7, 1, 2, 9), Int32Array.of(1, 3), 0.5)]).toEqual([0, 2, 2, 0]);
  });

  it('is the value itself without a future, and the rest of the row without a discount', () => {
    fc.assert(
      fc.property(column, (values) => {
        expect(discountedSums(values, OFFSETS, 0).every((sum, k) => sum === values[k])).toBe(true);
        const whole = discountedSums(values, OFFSETS, 1);
        expect(whole[2]).toBeCloseTo(values[2] + values[3] + values[4] + values[5], 9);
      }),
    );
  });
});

describe('temporalDifferences', () => {
  it('compares with the next value of the row, and with nothing after the last', () => {
    const errors = temporalDifferences(of(0, 1, 0, 0, 0, 1), of(0.5, 0.25, 1, 2, 3, 4), OFFSETS, 0.5);
    expect([...errors]).toEqual([-0.375, 0.75, 0, -0.5, -1, -3]);
  });

  it('looks across masked positions', () => {
    const mask = Float32Array.of(1, 1, 1, 0, 0, 1);
    const errors = temporalDifferences(of(0, 0, 0, 7, NaN, 1), of(0, 0, 1, NaN, 9, 4), OFFSETS, 0.5, mask);
    expect([...errors]).toEqual([0, 0, 1, 0, 0, -3]);
  });

  it('telescopes: undiscounted, its sums are what is still to come, less what was expected', () => {
    fc.assert(
      fc.property(column, column, (reward, value) => {
        const errors = temporalDifferences(reward, value, OFFSETS, 1);
        const sums = discountedSums(errors, OFFSETS, 1);
        const returns = discountedSums(reward, OFFSETS, 1);
        for (let k = 0; k < 6; k++) expect(sums[k]).toBeCloseTo(returns[k] - value[k], 9);
      }),
    );
  });
});
