import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pearson, spearman } from './correlation.js';

const of = (...values: number[]) => Float64Array.from(values);

describe('correlation', () => {
  it('agrees with numbers from elsewhere', () => {
    // by the textbook formula in Python's own arithmetic
    expect(pearson(of(1, 2, 3, 4, 5), of(2, 1, 4, 3, 7))).toBeCloseTo(0.8241633836921342, 12);
    expect(spearman(of(1, 2, 3, 4, 5), of(2, 1, 4, 3, 7))).toBeCloseTo(0.8, 12);
    expect(spearman(of(1, 2, 2, 3), of(4, 1, 2, 2))).toBeCloseTo(-0.5, 12);
  });

  it('leaves out rows where one side says nothing', () => {
    expect(pearson(of(1, NaN, 2, 3), of(1, 5, NaN, 2))).toBeCloseTo(1, 12);
    expect(spearman(of(1, 2, 9, 3), of(1, 2, NaN, 3))).toBeCloseTo(1, 12);
  });

  it('says nothing where a side does not vary or there are no two rows', () => {
    expect(pearson(of(1, 1, 1), of(1, 2, 3))).toBeNaN();
    expect(pearson(of(1), of(1))).toBeNaN();
    expect(spearman(of(), of())).toBeNaN();
  });

  it('is 1 with itself, does not mind shift and scale, and turns with the sign', () => {
    const values = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 50 }), (raw, scale) => {
        const x = Float64Array.from(raw);
        expect(pearson(x, x)).toBeCloseTo(1, 12);
        expect(pearson(x, x.map((value) => -scale * value + 3))).toBeCloseTo(-1, 12); // prettier-ignore
        expect(spearman(x, x.map((value) => value ** 3))).toBeCloseTo(1, 12); // prettier-ignore
      }),
    );
  });
});
