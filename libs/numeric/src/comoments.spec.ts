import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comoments,
  correlationOf,
  marginals,
  mergeComoments,
  mergeMoments,
  moments,
  NO_COMOMENTS,
  NO_MOMENTS,
  populationStd,
} from './comoments.js';

const column = (...values: number[]) => Float64Array.from(values);
const pairs = fc.array(fc.tuple(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.integer({ min: -9, max: 9 })), {
  maxLength: 40,
});

describe('moments', () => {
  it('are those of the rows that say something', () => {
    // 1, 2, 6: mean 3, squares 4 + 1 + 9
    expect(moments(column(1, NaN, 2, Infinity, 6))).toEqual({ n: 3, mean: 3, m2: 14 });
    expect(populationStd(moments(column(1, 2, 6)))).toBeCloseTo(2.160246899469287, 15);
  });

  it('have no spread at all for a constant, also one that is no binary fraction', () => {
    expect(moments(new Float64Array(1000).fill(0.1))).toEqual({ n: 1000, mean: 0.1, m2: 0 });
  });

  it('take the rounding of a constant for a constant', () => {
    expect(populationStd(moments(column(0.3, 0.1 + 0.2, 0.3)))).toBe(0);
    expect(populationStd(moments(column(1e-17, -1e-17)))).toBe(0);
  });

  it('are nothing for no rows', () => {
    expect(moments(column())).toEqual(NO_MOMENTS);
    expect(populationStd(NO_MOMENTS)).toBeNaN();
  });

  it('survive a large offset', () => {
    expect(moments(column(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16)).m2).toBe(90);
  });
});

describe('comoments', () => {
  it('are worked by hand over the rows where both say something', () => {
    // x 1 2 3 (mean 2), y 2 1 6 (mean 3): squares 2 and 14, products 1 + 0 + 3
    const pair = comoments(column(1, 9, 2, 3, NaN), column(2, NaN, 1, 6, 4));
    expect(pair).toEqual({ n: 3, meanX: 2, meanY: 3, m2X: 2, m2Y: 14, cXY: 4 });
    expect(correlationOf(pair)).toBeCloseTo(4 / Math.sqrt(28), 15);
    expect(marginals(pair).y).toEqual({ n: 3, mean: 3, m2: 14 });
  });

  it.each([
    ['no rows', column(), column()],
    ['one row', column(1), column(2)],
    ['a constant', column(1, 2, 3), column(5, 5, 5)],
  ])('correlate to NaN: %s', (_, x, y) => expect(correlationOf(comoments(x, y))).toBeNaN());

  it('never correlate beyond 1', () => {
    const x = column(0.1, 0.2, 0.7);
    const opposite = x.map((value) => -3 * value);
    expect(correlationOf(comoments(x, x))).toBe(1);
    expect(correlationOf(comoments(x, opposite))).toBeCloseTo(-1, 14);
    expect(correlationOf(comoments(x, opposite))).toBeGreaterThanOrEqual(-1);
  });

  it('merge to those of the whole, wherever it is cut', () => {
    fc.assert(
      fc.property(pairs, fc.nat(40), (rows, at) => {
        const part = (some: typeof rows) =>
          comoments(column(...some.map(([x]) => x)), column(...some.map(([, y]) => y)));
        const merged = mergeComoments(part(rows.slice(0, at)), part(rows.slice(at)));
        const whole = part(rows);
        for (const key of ['n', 'meanX', 'meanY', 'm2X', 'm2Y', 'cXY'] as const) {
          expect(Math.abs(merged[key] - whole[key])).toBeLessThanOrEqual(1e-12 * 1e6 * Math.max(1, rows.length));
        }
      }),
    );
  });

  it('merge with nothing to themselves', () => {
    const pair = comoments(column(1, 2), column(3, 5));
    expect(mergeComoments(pair, NO_COMOMENTS)).toBe(pair);
    expect(mergeComoments(NO_COMOMENTS, pair)).toBe(pair);
    expect(mergeMoments(NO_MOMENTS, NO_MOMENTS)).toEqual(NO_MOMENTS);
  });

  it('merge by hand: 1, 2 and 6 from two parts', () => {
    expect(mergeMoments(moments(column(1, 2)), moments(column(6)))).toEqual({ n: 3, mean: 3, m2: 14 });
  });
});
