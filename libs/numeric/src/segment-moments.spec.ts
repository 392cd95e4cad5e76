import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatRows } from './offsets.js';
import { repeatedMoments, segmentMoments } from './segment-moments.js';

const of = (...values: number[]) => Float64Array.from(values);

describe('segmentMoments', () => {
  it('gives mean and sample spread per segment', () => {
    // 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, 26 / 2 = 13; 1, 2: mean 1.5, squares 0.5
    const { weight, mean, std } = segmentMoments(of(2, 1, 4, 2, 9), null, Int32Array.of(0, 1, 0, 1, 0), 2);
    expect([...weight]).toEqual([3, 2]);
    expect([...mean]).toEqual([5, 1.5]);
    expect(std[0]).toBeCloseTo(Math.sqrt(13), 12);
    expect(std[1]).toBeCloseTo(Math.sqrt(0.5), 12);
  });

  it('gives the population spread with ddof 0', () => {
    expect(segmentMoments(of(2, 4, 9), null, Int32Array.of(0, 0, 0), 1, 0).std[0]).toBeCloseTo(Math.sqrt(26 / 3), 12);
  });

  it('counts a value as often as its weight says', () => {
    const weighted = segmentMoments(of(1, 0), of(3, 1), Int32Array.of(0, 0), 1);
    const repeated = segmentMoments(of(1, 1, 1, 0), null, new Int32Array(4), 1);
    expect(weighted).toEqual(repeated);
    expect(weighted.mean[0]).toBe(0.75);
    expect(weighted.std[0]).toBe(0.5);
  });

  it('leaves out rows of weight 0 and rows of no segment', () => {
    const moments = segmentMoments(of(1, 100, 3, 200), of(1, 0, 1, 1), Int32Array.of(0, 0, 0, -1), 1);
    expect([moments.weight[0], moments.mean[0]]).toEqual([2, 2]);
  });

  it('answers for the empty segment and for one value', () => {
    const { weight, mean, std } = segmentMoments(of(7), null, Int32Array.of(1), 2);
    expect([...weight]).toEqual([0, 1]);
    expect([...mean]).toEqual([NaN, 7]);
    expect([...std]).toEqual([0, 0]);
  });

  it('has no spread at all where all values are equal, whatever rounding the sum leaves', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.integer({ min: 1, max: 40 }), (value, count) => {
        const { mean, std } = segmentMoments(new Float64Array(count).fill(value), null, new Int32Array(count), 1);
        expect(std[0]).toBe(0);
        expect(mean[0] - value).toBe(0);
      }),
    );
  });

  it('takes derived values that ought to be equal for equal', () => {
    expect(0.1 + 0.2).not.toBe(0.3);
    expect(segmentMoments(of(0.1 + 0.2, 0.3), null, Int32Array.of(0, 0), 1).std[0]).toBe(0);
    expect(segmentMoments(of(1e6, 1e6 + 1e-7), null, Int32Array.of(0, 0), 1).std[0]).toBe(0);
    expect(segmentMoments(of(0, 1e-9), null, Int32Array.of(0, 0), 1).std[0]).toBeGreaterThan(0);
  });

  it('does not lose a small spread far from 0', () => {
    const far = segmentMoments(of(1e8, 1e8 + 1, 1e8 + 2), null, new Int32Array(3), 1);
    expect(far.std[0]).toBe(1);
  });
});

it('says of repeated values, to the last bit, what it says of their column', () => {
  const row = fc.tuple(fc.double({ min: -3, max: 3, noNaN: true }), fc.nat(5), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      const values = Float64Array.from(rows, ([value]) => value);
      const segmentOf = Int32Array.from(rows, ([, , s]) => s);
      const offsets = new Int32Array(rows.length + 1);
      for (const [i, [, times]] of rows.entries()) offsets[i + 1] = offsets[i] + times;
      const segmentOfChild = Int32Array.from(repeatRows(Float64Array.from(segmentOf), offsets));
      expect(repeatedMoments(values, offsets, segmentOf, 4)).toEqual(
        segmentMoments(repeatRows(values, offsets), null, segmentOfChild, 4),
      );
    }),
  );
});
