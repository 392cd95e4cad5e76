import { concatTrajectories, sliceTrajectories, type TrajectoryBatch } from '#lib/dataset';
import { groupRows } from './groups.js';

/** Groups with fewer trajectories say nothing. */
const LEAST = 3;

/** Of every turn, how much its credit hangs on who else was in the group. NaN: its group is too small. */
export interface JackknifeStability {
  /** [turns] */
  readonly credit: Float64Array;
  /** [turns] the greatest change that leaving one other trajectory out makes */
  readonly maxMove: Float64Array;
  /** [turns] */
  readonly standardError: Float64Array;
  /** [turns] 1: the sign turns when one other trajectory is left out */
  readonly signUnstable: Float64Array;
  /** trajectories in groups that are too small */
  readonly skippedTrajectories: number;
  readonly meanMaxMove: number | null;
  readonly signUnstableShare: number | null;
  /** mean standard error / mean |credit| */
  readonly relativeInstability: number | null;
}

/**
 * Leaves one trajectory of each group out at a time and computes the others' credit again.
 *
 *     maxMove = max_j |A^(−j) − A|
 *     standardError = √((m − 1)/m · Σ_j (A^(−j) − mean)²)          m = n − 1, how many others there are
 *     signUnstable    A and some A^(−j) have opposite signs, both beyond the tolerance
 *
 * Every round leaves out one member of every group, so it costs as many estimates as the largest group has members; an
 * estimator that looks across groups is not measured rightly by it.
 *
 * Source: ours; Tukey's jackknife.
 *
 * @param creditOf the estimator: [turns] of the batch that it is given
 * @param zeroTolerance up to this an advantage has no sign
 */
export function jackknifeStability(
  trajectories: TrajectoryBatch,
  creditOf: (trajectories: TrajectoryBatch) => Float64Array,
  { zeroTolerance }: { readonly zeroTolerance: number },
): JackknifeStability {
  const { turnOffsets, ids } = trajectories;
  const credit = creditOf(trajectories);
  const [others, sum, squares, maxMove, signUnstable] = Array.from(
    { length: 5 },
    () => new Float64Array(credit.length),
  );
  const groups = groupRows(trajectories).filter(({ rows }) => rows.length >= LEAST);
  const rounds = groups.reduce((most, { rows }) => Math.max(most, rows.length), 0);
  for (let j = 0; j < rounds; j++) {
    const touched = groups.filter(({ rows }) => j < rows.length);
    const left = new Set(touched.map(({ rows }) => rows[j]));
    const looked = touched.flatMap(({ rows }) => rows.filter((row) => !left.has(row)));
    const reduced = creditOf(without(trajectories, left));
    const startOf = startsWithout(turnOffsets, left);
    for (const row of looked) {
      for (let t = turnOffsets[row]; t < turnOffsets[row + 1]; t++) {
        const other = reduced[startOf[row] + t - turnOffsets[row]];
        // about the whole's own value, so that equal ones leave exactly nothing
        const move = other - credit[t];
        others[t]++;
        sum[t] += move;
        squares[t] += move * move;
        maxMove[t] = Math.max(maxMove[t], Math.abs(move));
        if (sign(other, zeroTolerance) * sign(credit[t], zeroTolerance) < 0) signUnstable[t] = 1;
      }
    }
  }
  const standardError = credit.map((_, t) => {
    const m = others[t];
    return Math.sqrt(Math.max(0, ((m - 1) / m) * (squares[t] - (sum[t] * sum[t]) / m)));
  });
  for (let t = 0; t < credit.length; t++) if (others[t] === 0) maxMove[t] = signUnstable[t] = standardError[t] = NaN;
  const seen = [...credit.keys()].filter((t) => others[t] > 0);
  const mean = (values: Float64Array) => (seen.length > 0 ? seen.reduce((total, t) => total + values[t], 0) / seen.length : null); // prettier-ignore
  const size = mean(credit.map(Math.abs));
  return {
    credit,
    maxMove,
    standardError,
    signUnstable,
    skippedTrajectories: ids.length - groups.reduce((count, { rows }) => count + rows.length, 0),
    meanMaxMove: mean(maxMove),
    signUnstableShare: mean(signUnstable),
    relativeInstability: size ? mean(standardError)! / size : null,
  };
}

const sign = (value: number, tolerance: number) => (Math.abs(value) <= tolerance ? 0 : Math.sign(value));

/** The batch without these rows. */
function without(trajectories: TrajectoryBatch, left: ReadonlySet<number>): TrajectoryBatch {
  const count = trajectories.ids.length;
  const slices: TrajectoryBatch[] = [];
  for (let from = 0, row = 0; row <= count; row++) {
    if (row < count && !left.has(row)) continue;
    if (row > from) slices.push(sliceTrajectories(trajectories, from, row - from));
    from = row + 1;
  }
  return concatTrajectories(slices, trajectories.texts);
}

/** [trajectories] first turn of each among those that are not left out */
function startsWithout(turnOffsets: Int32Array, left: ReadonlySet<number>): Int32Array {
  let start = 0;
  return turnOffsets.slice(0, -1).map((offset, row) => {
    const own = start;
    if (!left.has(row)) start += turnOffsets[row + 1] - offset;
    return own;
  });
}
