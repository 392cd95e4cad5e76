import type { Numbers } from '#lib/numeric';

/** Population covariance of two columns over some rows; 0 for one row. */
export function covariance(x: Numbers, y: Numbers, rows: readonly number[]): number {
  let [meanX, meanY] = [0, 0];
  for (const row of rows) {
    meanX += x[row] / rows.length;
    meanY += y[row] / rows.length;
  }
  let sum = 0;
  for (const row of rows) sum += (x[row] - meanX) * (y[row] - meanY);
  return sum / rows.length;
}

/** Σ covariance over groups of rows. */
export function pooledCovariance(
  x: Numbers,
  y: Numbers,
  groups: readonly { readonly rows: readonly number[] }[],
): number {
  return groups.reduce((sum, { rows }) => sum + covariance(x, y, rows), 0);
}

/** Where a sum of variances is rounding only. */
export const NO_VARIANCE = 1e-24;
