import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whiten } from './whiten.js';

const of = (...values: number[]) => Float64Array.from(values);

describe('whiten', () => {
  it('standardises with the sample variance, epsilon inside the root', () => {
    // mean 2, variance 1: 1 / sqrt(1 + 3) = 0.5
    expect([...whiten(of(1, 2, 3), null, 3).values]).toEqual([-0.5, 0, 0.5]);
  });

  it('reads no masked position and gives it 0', () => {
    const { values, count } = whiten(of(1, NaN, 2, 99, 3), Float32Array.of(1, 0, 1, 0, 1), 0);
    expect([...values]).toEqual([-1, 0, 0, 0, 1]);
    expect(count).toBe(3);
  });

  it('gives exactly 0 where all are equal', () => {
    expect([...whiten(of(0.3, 0.1 + 0.2, 0.3), null, 1e-8).values]).toEqual([0, 0, 0]);
  });

  it('leaves fewer than two positions as they are', () => {
    expect(whiten(of(5, 7), Float32Array.of(0, 1), 1e-8)).toEqual({ values: of(0, 7), count: 1 });
    expect(whiten(of(), null, 1e-8)).toEqual({ values: of(), count: 0 });
  });

  it('gives mean 0 and variance 1, wherever the values lay', () => {
    const values = fc.float64Array({ minLength: 2, maxLength: 30, min: -1e3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(values, fc.double({ min: -1e3, max: 1e3, noNaN: true }), (x, shift) => {
        fc.pre(Math.max(...x) - Math.min(...x) > 1e-3);
        const white = whiten(
          x.map((value) => value + shift),
          null,
          0,
        ).values;
        const mean = white.reduce((sum, value) => sum + value, 0) / white.length;
        const variance = white.reduce((sum, value) => sum + value * value, 0) / (white.length - 1);
        expect(mean).toBeCloseTo(0, 6);
        expect(variance).toBeCloseTo(1, 6);
      }),
    );
  });
});
