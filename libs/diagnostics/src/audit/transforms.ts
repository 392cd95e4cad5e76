import { nearness, relativeTolerance, type Tolerance } from './precision.js';

export type TransformId = 'sign-flipped' | 'zeroed-rows' | 'scaled' | 'clipped' | 'shifted' | 'permuted';

/** What was done to an advantage after it was computed. */
export interface Transform {
  readonly id: TransformId;
  readonly cause: string;
  /** @returns what explains all rows, or null where it does not */
  fit(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance): Record<string, unknown> | null;
}

const LEAST_FACTOR = 1e-3;

/** Values this near to each other are one value. */
const SAME = 1e-9;

function distinct(values: Iterable<number>): number {
  const sorted = Float64Array.from(values).sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] - sorted[i - 1] > SAME) count++;
  return count;
}

function fits(logged: Float64Array, explained: Float64Array, tolerance: Tolerance): boolean {
  const near = nearness(tolerance, explained);
  return logged.every((value, i) => near(value, explained[i], i));
}

function signFlipped(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  const isZero = recomputed.every((value) => value === 0);
  const flipped = recomputed.map((value) => -value);
  return !isZero && fits(logged, flipped, tolerance) && !fits(logged, recomputed, tolerance) ? {} : null;
}

function zeroedRows(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  const near = nearness(tolerance, recomputed);
  const zeroed: number[] = [];
  const others: number[] = [];
  for (let i = 0; i < logged.length; i++) {
    if (logged[i] === 0 && !near(0, recomputed[i], i)) zeroed.push(i);
    else if (!near(logged[i], recomputed[i], i)) return null;
    else if (logged[i] !== 0) others.push(logged[i]);
  }
  return zeroed.length > 0 && others.length >= 2 && distinct(others) >= 2 ? { zeroedRows: zeroed } : null;
}

function scaled(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  if (distinct(recomputed.map(Math.abs).filter((value) => value > SAME)) < 2) return null;
  let together = 0;
  let alone = 0;
  for (let i = 0; i < logged.length; i++) {
    together += logged[i] * recomputed[i];
    alone += recomputed[i] ** 2;
  }
  const factor = together / alone;
  const isOne = Math.abs(factor - 1) <= Math.max(LEAST_FACTOR, 3 * relativeTolerance(tolerance));
  // A factor of -1 has a name of its own.
  const isMinusOne = Math.abs(factor + 1) <= Math.max(LEAST_FACTOR, 3 * relativeTolerance(tolerance));
  if (isOne || isMinusOne || factor === 0) return null;
  const explained = recomputed.map((value) => factor * value);
  return fits(logged, explained, tolerance) ? { factor } : null;
}

function clipped(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  const limit = logged.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 0);
  const near = nearness(tolerance, recomputed);
  const beyond = recomputed.filter((value) => Math.abs(value) > limit && !near(limit, Math.abs(value))).length;
  const explained = recomputed.map((value) => Math.max(-limit, Math.min(limit, value)));
  return limit > 0 && beyond >= 2 && fits(logged, explained, tolerance) ? { limit, clippedRows: beyond } : null;
}

function shifted(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  if (distinct(recomputed) <= 2) return null;
  const offset = logged.reduce((sum, value, i) => sum + value - recomputed[i], 0) / logged.length;
  if (fits(logged, recomputed, tolerance)) return null;
  const explained = recomputed.map((value) => value + offset);
  return fits(logged, explained, tolerance) ? { offset } : null;
}

function permuted(logged: Float64Array, recomputed: Float64Array, tolerance: Tolerance) {
  if (distinct(recomputed) < 3) return null;
  const near = nearness(tolerance, recomputed);
  const displacedRows = logged.filter((value, i) => !near(value, recomputed[i], i)).length;
  return displacedRows > 0 && fits(logged.toSorted(), recomputed.toSorted(), { ...tolerance, loss: null })
    ? { displacedRows }
    : null;
}

/** In the order in which they are tried. */
export const TRANSFORMS: readonly Transform[] = [
  { id: 'sign-flipped', cause: 'the sign is wrong', fit: signFlipped },
  { id: 'zeroed-rows', cause: 'rows were set to 0 after the advantage was computed', fit: zeroedRows },
  { id: 'scaled', cause: 'all rows were multiplied by one factor', fit: scaled },
  { id: 'clipped', cause: 'magnitudes were cut at a limit', fit: clipped },
  { id: 'shifted', cause: 'one number was added to all rows', fit: shifted },
  {
    id: 'permuted',
    cause: 'rows were reordered after the advantage was computed, as by length balancing',
    fit: permuted,
  },
];
