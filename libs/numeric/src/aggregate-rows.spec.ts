import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGGREGATES, aggregateRows, softminWeights } from './aggregate-rows.js';

const how = { empty: -1, temperature: 0.1 };
const of = (values: number[], aggregate: (typeof AGGREGATES)[number], options = how) =>
  aggregateRows(Float64Array.from(values), Int32Array.of(0, values.length), aggregate, options)[0];

describe('aggregateRows', () => {
  it.each([
    ['min', 0.4],
    ['product', 0.288],
    ['last', 0.8],
    ['mean', 0.7],
    ['softmin', 0.4104],
  ] as const)('takes the %s of 0.9, 0.4, 0.8', (aggregate, expected) => {
    expect(of([0.9, 0.4, 0.8], aggregate)).toBeCloseTo(expected, 4);
  });

  it('gives an empty row what it is told to, and keeps rows apart', () => {
    for (const aggregate of AGGREGATES) {
      const offsets = Int32Array.of(0, 0, 1, 3);
      expect([...aggregateRows(Float64Array.of(0.5, 1, 1), offsets, aggregate, how)]).toEqual([-1, 0.5, 1]);
    }
  });

  it('turns the mean under soft weights into the lowest and into the mean', () => {
    const scores = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(scores, (values) => {
        expect(of(values, 'softmin', { ...how, temperature: 1e-3 })).toBeCloseTo(Math.min(...values), 9);
        expect(of(values, 'softmin', { ...how, temperature: 1e9 })).toBeCloseTo(of(values, 'mean'), 6);
      }),
    );
  });
});

describe('softminWeights', () => {
  it('sum to one in each row, the lowest weighing most', () => {
    const weights = softminWeights(Float64Array.of(0.6, -0.2, 0.4, 7), Int32Array.of(0, 3, 4), 0.1);
    expect(weights[0] + weights[1] + weights[2]).toBeCloseTo(1, 12);
    expect(weights[1]).toBeGreaterThan(weights[2]);
    expect(weights[2]).toBeGreaterThan(weights[0]);
    expect(weights[3]).toBe(1);
  });
});
