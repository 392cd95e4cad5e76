import type { Numbers } from '#lib/numeric';

/** Population covariance of two columns over some rows; 0 for one row. */
export function covariance(x: Numbers, y: Numbers, rows: readonly number[]): number {
  const count = rows.length;
  let meanX = 0;
  let meanY = 0;
  let sum = 0;
  for (let k = 0; k < count; k++) {
    meanX += x[rows[k]] / count;
    meanY += y[rows[k]] / count;
  }
  for (let k = 0; k < count; k++) sum += (x[rows[k]] - meanX) * (y[rows[k]] - meanY);
  return sum / count;
}

/** Σ covariance over groups of rows. */
export function pooledCovariance(
  x: Numbers,
  y: Numbers,
  groups: readonly { readonly rows: readonly number[] }[],
): number {
  let sum = 0;
  for (const { rows } of groups) sum += covariance(x, y, rows);
  return sum;
}

/** Where a sum of variances is rounding only. */
export const NO_VARIANCE = 1e-24;
