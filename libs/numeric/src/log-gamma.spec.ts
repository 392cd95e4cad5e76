import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logBeta, logGamma } from './log-gamma.js';

describe('logGamma', () => {
  it('is the logarithm of a factorial, and ½ ln π at ½', () => {
    let factorial = 1;
    for (let n = 1; n <= 20; n++) {
      expect(logGamma(n)).toBeCloseTo(Math.log(factorial), 11);
      factorial *= n;
    }
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 12);
  });

  it('steps by ln x, also far out', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (x) => {
        const step = logGamma(x + 1) - logGamma(x);
        expect(Math.abs(step - Math.log(x))).toBeLessThan(1e-13 * Math.max(1, Math.abs(logGamma(x + 1))) + 1e-12);
      }),
    );
  });
});

describe('logBeta', () => {
  it('has the closed form of whole numbers', () => {
    expect(logBeta(1, 1)).toBeCloseTo(0, 12);
    expect(logBeta(2, 3)).toBeCloseTo(Math.log(1 / 12), 12);
    expect(logBeta(1, 10_000)).toBeCloseTo(-Math.log(10_000), 9);
  });
});
