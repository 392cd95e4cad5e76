import { describe, expect, it } from 'vitest';
import { ridgeWeights, solvePositiveDefinite } from './ridge.js';

const close = (got: Float64Array, want: number[], digits = 12) => {
  expect(got).toHaveLength(want.length);
  got.forEach((value, i) => expect(value).toBeCloseTo(want[i], digits));
};

describe('solvePositiveDefinite', () => {
  it('solves what can be solved by hand', () => {
    // 4x + 2y = 2, 2x + 3y = 5
    close(solvePositiveDefinite(Float64Array.of(4, 2, 2, 3), Float64Array.of(2, 5)), [-0.5, 2]);
    close(solvePositiveDefinite(Float64Array.of(4), Float64Array.of(2)), [0.5]);
    close(solvePositiveDefinite(new Float64Array(0), new Float64Array(0)), []);
  });

  it('says nothing where the matrix is not positive definite', () => {
    expect([...solvePositiveDefinite(Float64Array.of(-1), Float64Array.of(1))]).toEqual([NaN]);
  });
});

describe('ridgeWeights', () => {
  it('is y · x / (x · x + ridge) for one feature', () => {
    close(ridgeWeights(Float64Array.of(1, 2), Float64Array.of(1, 4), 1, 1), [1.5]);
  });

  it('is the same by rows and by features', () => {
    // Two rows, three features: solved by rows. Written out by features: (XᵀX + I) w = Xᵀy.
    const weights = ridgeWeights(Float64Array.of(1, 2, 0, 0, 1, 1), Float64Array.of(3, 1), 3, 1);
    const byFeatures = solvePositiveDefinite(Float64Array.of(2, 2, 0, 2, 6, 1, 0, 1, 2), Float64Array.of(3, 7, 1));
    close(weights, [...byFeatures]);
  });

  it('gives nothing to no feature, and 0 where no row says anything', () => {
    close(ridgeWeights(new Float64Array(0), Float64Array.of(1, 2), 0, 1), []);
    close(ridgeWeights(new Float64Array(0), new Float64Array(0), 2, 1), [0, 0]);
  });
});
