import type { Numbers } from './numbers.js';

/** What mean, spread and regression of one column need. Over the finite rows: NaN is "not said". Merges. */
export interface Moments {
  readonly n: number;
  readonly mean: number;
  /** Σ (x − mean)² */
  readonly m2: number;
}

/** The same for two columns, over the rows where both are finite. */
export interface Comoments {
  readonly n: number;
  readonly meanX: number;
  readonly meanY: number;
  /** Σ (x − meanX)² */
  readonly m2X: number;
  readonly m2Y: number;
  /** Σ (x − meanX)(y − meanY) */
  readonly cXY: number;
}

export const NO_MOMENTS: Moments = { n: 0, mean: 0, m2: 0 };
export const NO_COMOMENTS: Comoments = { n: 0, meanX: 0, meanY: 0, m2X: 0, m2Y: 0, cXY: 0 };

/** A spread below this share of the mean (or of 1) is the rounding of a constant. Prefers null to a made-up correlation. */
const ROUNDING = 1e-12;

/**
 * Moments of the finite rows of a column, in two passes.
 *
 * Sums are taken about the first value, so that a constant has m2 of exactly 0.
 *
 * @param x [rows]
 */
export function moments(x: Numbers): Moments {
  const { n, meanX, m2X } = comoments(x, x);
  return { n, mean: meanX, m2: m2X };
}

/**
 * Moments and co-moments of two columns over the rows where both are finite, in two passes.
 *
 * @param x, y [rows]
 */
export function comoments(x: Numbers, y: Numbers): Comoments {
  let n = 0;
  let originX = 0;
  let originY = 0;
  let sumX = 0;
  let sumY = 0;
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
    if (n++ === 0) {
      originX = x[i];
      originY = y[i];
    }
    sumX += x[i] - originX;
    sumY += y[i] - originY;
  }
  if (n === 0) return NO_COMOMENTS;

  const meanX = originX + sumX / n;
  const meanY = originY + sumY / n;
  let m2X = 0;
  let m2Y = 0;
  let cXY = 0;
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
    m2X += (x[i] - meanX) ** 2;
    m2Y += (y[i] - meanY) ** 2;
    cXY += (x[i] - meanX) * (y[i] - meanY);
  }
  return { n, meanX, meanY, m2X, m2Y, cXY };
}

/**
 * Moments of two disjoint sets of rows taken together (Chan, Golub, LeVeque 1979).
 *
 *     m2 = m2_a + m2_b + δ² · n_a n_b / n      δ = mean_b − mean_a
 */
export function mergeMoments(a: Moments, b: Moments): Moments {
  if (a.n === 0) return b;
  if (b.n === 0) return a;
  const n = a.n + b.n;
  const delta = b.mean - a.mean;
  return { n, mean: a.mean + (delta * b.n) / n, m2: a.m2 + b.m2 + (delta * delta * a.n * b.n) / n };
}

/** As mergeMoments, with c = c_a + c_b + δ_x δ_y · n_a n_b / n. */
export function mergeComoments(a: Comoments, b: Comoments): Comoments {
  if (a.n === 0) return b;
  if (b.n === 0) return a;
  const n = a.n + b.n;
  const deltaX = b.meanX - a.meanX;
  const deltaY = b.meanY - a.meanY;
  const weight = (a.n * b.n) / n;
  return {
    n,
    meanX: a.meanX + (deltaX * b.n) / n,
    meanY: a.meanY + (deltaY * b.n) / n,
    m2X: a.m2X + b.m2X + deltaX * deltaX * weight,
    m2Y: a.m2Y + b.m2Y + deltaY * deltaY * weight,
    cXY: a.cXY + b.cXY + deltaX * deltaY * weight,
  };
}

/** Standard deviation with ddof 0; exactly 0 for a constant up to rounding, NaN for no rows. */
export function populationStd({ n, mean, m2 }: Moments): number {
  if (n === 0) return NaN;
  const std = Math.sqrt(m2 / n);
  return std <= ROUNDING * Math.max(1, Math.abs(mean)) ? 0 : std;
}

/** The moments of either column of a pair. */
export function marginals({ n, meanX, meanY, m2X, m2Y }: Comoments): { readonly x: Moments; readonly y: Moments } {
  return { x: { n, mean: meanX, m2: m2X }, y: { n, mean: meanY, m2: m2Y } };
}

/** Pearson's correlation, in [−1, 1]; NaN where a column is constant. */
export function correlationOf(pair: Comoments): number {
  const { x, y } = marginals(pair);
  if (!(populationStd(x) > 0 && populationStd(y) > 0)) return NaN;
  const r = pair.cXY / Math.sqrt(pair.m2X * pair.m2Y);
  return Math.max(-1, Math.min(1, r));
}
