import { allEqual, type Numbers } from './numbers.js';
import { averageRanks } from './ranks.js';

/**
 * Pearson's correlation, in two passes.
 *
 *     r = Σ (x − x̄)(y − ȳ) / sqrt(Σ (x − x̄)² · Σ (y − ȳ)²)
 *
 * Rows where either says nothing (NaN) are left out. NaN for fewer than two rows and where a side does not vary.
 *
 * @param x, y [rows]
 */
export function pearson(x: Numbers, y: Numbers): number {
  const { left, right } = bothSaid(x, y);
  return correlation(left, right);
}

/**
 * Spearman's rank correlation: Pearson's of the average ranks, so ties are treated alike on both sides.
 * Rows where either says nothing (NaN) are left out before ranking.
 *
 * @param x, y [rows]
 */
export function spearman(x: Numbers, y: Numbers): number {
  const { left, right } = bothSaid(x, y);
  return correlation(averageRanks(left), averageRanks(right));
}

function correlation(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  if (n < 2 || isConstant(x) || isConstant(y)) return NaN;
  const meanX = x.reduce((sum, value) => sum + value, 0) / n;
  const meanY = y.reduce((sum, value) => sum + value, 0) / n;
  let squaresX = 0;
  let squaresY = 0;
  let products = 0;
  for (let i = 0; i < n; i++) {
    const dx = x[i] - meanX;
    const dy = y[i] - meanY;
    squaresX += dx * dx;
    squaresY += dy * dy;
    products += dx * dy;
  }
  return Math.max(-1, Math.min(1, products / Math.sqrt(squaresX) / Math.sqrt(squaresY)));
}

function isConstant(values: Float64Array): boolean {
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return allEqual(min, max);
}

function bothSaid(x: Numbers, y: Numbers): { left: Float64Array; right: Float64Array } {
  const left = new Float64Array(x.length);
  const right = new Float64Array(x.length);
  let count = 0;
  for (let i = 0; i < x.length; i++) {
    if (Number.isNaN(x[i]) || Number.isNaN(y[i])) continue;
    left[count] = x[i];
    right[count++] = y[i];
  }
  return { left: left.subarray(0, count), right: right.subarray(0, count) };
}
