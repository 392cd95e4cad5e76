import { concatTrajectories, sliceTrajectories, type TrajectoryBatch } from '#lib/dataset';
import { groupRows } from './groups.js';

/** Groups with fewer trajectories, and batches with fewer groups, say nothing. */
const LEAST = 3;
/** Parts that the groups of a batch are dealt to. */
const BLOCKS = 10;

/** What one round leaves out, and whose credit is then looked at: rows of the batch. */
export interface JackknifeRound {
  readonly left: ReadonlySet<number>;
  readonly looked: readonly number[];
}

/** Of every turn, how much its credit hangs on who else was there. NaN: no round looked at it. */
export interface JackknifeStability {
  /** [turns] */
  readonly credit: Float64Array;
  /** [turns] the greatest change that a round makes */
  readonly maxMove: Float64Array;
  /** [turns] */
  readonly standardError: Float64Array;
  /** [turns] 1: the sign turns in some round */
  readonly signUnstable: Float64Array;
  /** trajectories that no round looked at */
  readonly skippedTrajectories: number;
  readonly meanMaxMove: number | null;
  readonly signUnstableShare: number | null;
  /** mean standard error / mean |credit| */
  readonly relativeInstability: number | null;
}

/**
 * One trajectory of each group left out at a time, and with it those that branch off it: for an estimator that judges a
 * trajectory by its group alone. As many rounds as the largest group has members; groups of fewer than 3 are in none.
 */
export function leaveOneTrajectoryOut(trajectories: TrajectoryBatch): JackknifeRound[] {
  const groups = groupRows(trajectories).filter(({ rows }) => rows.length >= LEAST);
  const rounds = groups.reduce((most, { rows }) => Math.max(most, rows.length), 0);
  return Array.from({ length: rounds }, (_, j) => {
    const touched = groups.filter(({ rows }) => j < rows.length);
    const left = withBranches(trajectories, new Set(touched.map(({ rows }) => rows[j])));
    return { left, looked: touched.flatMap(({ rows }) => rows.filter((row) => !left.has(row))) };
  });
}

/** A tenth of the groups left out at a time: for an estimator that looks across groups. None for fewer than 3 groups. */
export function leaveGroupsOut(trajectories: TrajectoryBatch): JackknifeRound[] {
  const groups = groupRows(trajectories);
  if (groups.length < LEAST) return [];
  return Array.from({ length: Math.min(BLOCKS, groups.length) }, (_, block) => {
    const left = new Set(groups.filter((_group, g) => g % BLOCKS === block).flatMap(({ rows }) => rows));
    return { left, looked: [...trajectories.ids.keys()].filter((row) => !left.has(row)) };
  });
}

/** The rows, and all that branch off them; trajectories may name each other as parents, in a circle. */
function withBranches({ parentOf }: TrajectoryBatch, rows: ReadonlySet<number>): Set<number> {
  const branches = Map.groupBy(
    [...parentOf.keys()].filter((row) => parentOf[row] >= 0),
    (row) => parentOf[row],
  );
  const left = new Set(rows);
  // those added are come to as well
  for (const row of left) for (const branch of branches.get(row) ?? []) left.add(branch);
  return left;
}

/** The batch that a round leaves. */
export function batchWithout(trajectories: TrajectoryBatch, { left }: Pick<JackknifeRound, 'left'>): TrajectoryBatch {
  const count = trajectories.ids.length;
  const slices: TrajectoryBatch[] = [];
  for (let from = 0, row = 0; row <= count; row++) {
    if (row < count && !left.has(row)) continue;
    if (row > from) slices.push(sliceTrajectories(trajectories, from, row - from));
    from = row + 1;
  }
  return concatTrajectories(slices, trajectories.texts);
}

/**
 * How far the credit of each turn moves when others are left out. A^(−j): the credit that round j gives, m: rounds that
 * looked at the turn.
 *
 *     maxMove       = max_j |A^(−j) − A|
 *     standardError = √((m − 1)/m · Σ_j (A^(−j) − mean)²)
 *     signUnstable    A and some A^(−j) have opposite signs, both beyond the tolerance
 *
 * Where nothing is said, in whole or in a round, the round does not look at the turn.
 *
 * Source: ours; Tukey's jackknife.
 *
 * @param credit [turns]
 * @param reduced [rounds] the credit of the batch that each round leaves, [its turns]
 * @param zeroTolerance up to this an advantage has no sign
 */
export function jackknifeStability(
  { turnOffsets, ids }: TrajectoryBatch,
  credit: Float64Array,
  rounds: readonly JackknifeRound[],
  reduced: readonly Float64Array[],
  { zeroTolerance }: { readonly zeroTolerance: number },
): JackknifeStability {
  const column = () => new Float64Array(credit.length);
  const [others, sum, squares, maxMove, signUnstable] = [column(), column(), column(), column(), column()];
  const lookedAt = new Set<number>();
  rounds.forEach(({ left, looked }, j) => {
    const startOf = startsWithout(turnOffsets, left);
    for (const row of looked) {
      lookedAt.add(row);
      for (let t = turnOffsets[row]; t < turnOffsets[row + 1]; t++) {
        const other = reduced[j][startOf[row] + t - turnOffsets[row]];
        // about the whole's own value, so that equal ones leave exactly nothing
        const move = other - credit[t];
        if (!Number.isFinite(move)) continue;
        others[t]++;
        sum[t] += move;
        squares[t] += move * move;
        maxMove[t] = Math.max(maxMove[t], Math.abs(move));
        if (sign(other, zeroTolerance) * sign(credit[t], zeroTolerance) < 0) signUnstable[t] = 1;
      }
    }
  });
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
    skippedTrajectories: ids.length - lookedAt.size,
    meanMaxMove: mean(maxMove),
    signUnstableShare: mean(signUnstable),
    relativeInstability: size ? mean(standardError)! / size : null,
  };
}

const sign = (value: number, tolerance: number) => (Math.abs(value) <= tolerance ? 0 : Math.sign(value));

/** [trajectories] first turn of each among those that are not left out */
function startsWithout(turnOffsets: Int32Array, left: ReadonlySet<number>): Int32Array {
  let start = 0;
  return turnOffsets.slice(0, -1).map((offset, row) => {
    const own = start;
    if (!left.has(row)) start += turnOffsets[row + 1] - offset;
    return own;
  });
}
