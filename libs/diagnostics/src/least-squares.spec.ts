import { expect, it } from 'vitest';
import { leastSquares } from './least-squares.js';

it('fits a line by hand: x 0, 1, 2; y 1, 2, 6', () => {
  // means 1 and 3; Σ(x − 1)(y − 3) = 2 + 0 + 3 = 5; Σ(x − 1)² = 2
  expect(leastSquares([0, 1, 2], [1, 2, 6])).toEqual({ slope: 2.5, intercept: 0.5 });
});

it.each([[[]], [[1]], [[1, 1]]])('has no line through x = %j', (x) => {
  expect(leastSquares(x, x)).toBeNull();
});
