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

function correlation(x: Numbers, y: Numbers): number {
  const n = x.length;
  const meanX = meanIfVaried(x);
  const meanY = meanIfVaried(y);
  if (n < 2 || meanX === null || meanY === null) return NaN;
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

/** null: all values are equal. */
function meanIfVaried(values: Numbers): number | null {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return allEqual(min, max) ? null : sum / values.length;
}

/** The rows where both say something: the columns themselves where all do. */
function bothSaid(x: Numbers, y: Numbers): { left: Numbers; right: Numbers } {
  let said = 0;
  for (let i = 0; i < x.length; i++) if (!Number.isNaN(x[i]) && !Number.isNaN(y[i])) said++;
  if (said === x.length) return { left: x, right: y };
  const left = new Float64Array(said);
  const right = new Float64Array(said);
  for (let i = 0, at = 0; i < x.length; i++) {
    if (Number.isNaN(x[i]) || Number.isNaN(y[i])) continue;
    left[at] = x[i];
    right[at++] = y[i];
  }
  return { left, right };
}
