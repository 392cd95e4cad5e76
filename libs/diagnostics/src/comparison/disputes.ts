import { marginals, populationStd, type Comoments, type Moments } from '#lib/numeric';
import type { TrajectoryBatch } from '#lib/dataset';
import { namesOf, signOf, sortedEntries, type Entries } from './sums.js';
import { TopRows } from './top-rows.js';

/**
 * The turns that some pair of estimators may turn out to dispute most, with what every estimator says of them.
 *
 * The ranking divides by the spread over the WHOLE analysis, which a shard does not know: it uses its own spread, keeps
 * SPARE times as many turns as will be shown, and every merge ranks them again. A turn is lost only where the spreads of
 * two estimators stand to each other so differently in its shard that SPARE · topK others overtake it there.
 */
export interface Candidates {
  readonly run: readonly string[];
  readonly trajectory: readonly string[];
  readonly turn: readonly number[];
  /** per estimator [candidates] */
  readonly values: Entries<Float64Array>;
}

export const NO_CANDIDATES: Candidates = { run: [], trajectory: [], turn: [], values: [] };

const SPARE = 4;

/** The spread of both sides of each pair. */
export type PairSpreads = Entries<readonly [left: number, right: number]>;

/** Spreads over all turns of which both speak; 0 for a constant. */
export function pairSpreads(pairs: Entries<{ readonly comoments: Comoments }>): PairSpreads {
  return pairs.map(([pair, { comoments }]) => {
    const { x, y } = marginals(comoments);
    return [pair, [populationStd(x), populationStd(y)]] as const;
  });
}

/** The same where not all turns are in yet: what is constant so far need not stay so, and is measured by its size. */
function workingSpreads(pairs: Entries<{ readonly comoments: Comoments }>): PairSpreads {
  const spread = (of: Moments) => populationStd(of) || Math.abs(of.mean);
  return pairs.map(([pair, { comoments }]) => {
    const { x, y } = marginals(comoments);
    return [pair, [spread(x), spread(y)]] as const;
  });
}

/**
 * How strongly two credits dispute a turn: opposite signs, and min(|L| / σ_L, |R| / σ_R). 0: they do not.
 */
export function dispute(left: number, right: number, spreadLeft: number, spreadRight: number): number {
  if (signOf(left) * signOf(right) !== -1 || !(spreadLeft > 0 && spreadRight > 0)) return 0;
  return Math.min(Math.abs(left) / spreadLeft, Math.abs(right) / spreadRight);
}

/**
 * The strength that turns are ranked by: to 24 binary digits, because every merge rounds the spreads otherwise and
 * rounding must not decide between equals. A total order, so turns may be offered one by one.
 */
const rankOf = Math.fround;

/** The candidates of a shard. */
export function candidatesOf(
  run: string,
  { ids, turnOffsets }: TrajectoryBatch,
  credits: Entries<Float64Array>,
  pairs: Entries<{ readonly comoments: Comoments }>,
  topK: number,
): Candidates {
  const rows = strongestRows(credits, workingSpreads(pairs), SPARE * topK);
  const trajectoryOf = trajectoriesOf(rows, turnOffsets);
  return {
    run: trajectoryOf.map(() => run),
    trajectory: trajectoryOf.map((i) => ids[i]),
    turn: trajectoryOf.map((i, at) => rows[at] - turnOffsets[i]),
    values: credits.map(([name, column]) => [name, Float64Array.from(rows, (row) => column[row])] as const),
  };
}

/** The rows that are among the `count` strongest of any pair, ascending. */
function strongestRows(columns: Entries<Float64Array>, spreads: PairSpreads, count: number): number[] {
  const column = new Map(columns);
  const rows = new Set<number>();
  for (const [pair, [spreadLeft, spreadRight]] of spreads) {
    const [left, right] = namesOf(pair).map((name) => column.get(name));
    if (!left || !right) continue;
    const top = new TopRows(Math.min(count, left.length));
    for (let row = 0; row < left.length; row++) {
      top.offer(row, rankOf(dispute(left[row], right[row], spreadLeft, spreadRight)));
    }
    for (const { row } of top.descending()) rows.add(row);
  }
  return [...rows].sort((a, b) => a - b);
}

/** The trajectory of each of some ascending rows. */
function trajectoriesOf(rows: readonly number[], turnOffsets: Int32Array): number[] {
  let trajectory = 0;
  return rows.map((row) => {
    while (turnOffsets[trajectory + 1] <= row) trajectory++;
    return trajectory;
  });
}

/** Above this many candidates a merge ranks them again before it takes more: bounds its memory, and its time. */
const CROWD = 16_384;

/** The candidates of several sets of groups in order, cut back to those that may still matter. */
export function joinCandidates(
  parts: readonly Candidates[],
  pairs: Entries<{ readonly comoments: Comoments }>,
  topK: number,
): Candidates {
  const spreads = workingSpreads(pairs);
  let kept = NO_CANDIDATES;
  let waiting: Candidates[] = [];
  let size = 0;
  for (const part of parts) {
    waiting.push(part);
    size += part.turn.length;
    if (size <= CROWD) continue;
    kept = strongestCandidates(concatenated([kept, ...waiting]), spreads, topK);
    waiting = [];
    size = kept.turn.length;
  }
  return strongestCandidates(concatenated([kept, ...waiting]), spreads, topK);
}

function strongestCandidates(candidates: Candidates, spreads: PairSpreads, topK: number): Candidates {
  const rows = strongestRows(candidates.values, spreads, SPARE * topK);
  return {
    run: rows.map((row) => candidates.run[row]),
    trajectory: rows.map((row) => candidates.trajectory[row]),
    turn: rows.map((row) => candidates.turn[row]),
    values: candidates.values.map(([name, column]) => [name, Float64Array.from(rows, (row) => column[row])] as const),
  };
}

function concatenated(parts: readonly Candidates[]): Candidates {
  const names = new Set(parts.flatMap(({ values }) => values.map(([name]) => name)));
  const columns = parts.map(({ values }) => new Map(values));
  const count = parts.reduce((sum, { turn }) => sum + turn.length, 0);
  const column = (name: string) => {
    const whole = new Float64Array(count).fill(NaN);
    let at = 0;
    parts.forEach(({ turn }, p) => {
      whole.set(columns[p].get(name) ?? [], at);
      at += turn.length;
    });
    return whole;
  };
  return {
    run: parts.flatMap(({ run }) => run),
    trajectory: parts.flatMap(({ trajectory }) => trajectory),
    turn: parts.flatMap(({ turn }) => turn),
    values: sortedEntries([...names].map((name) => [name, column(name)] as const)),
  };
}

/** A turn about which two estimators say the opposite. */
export interface DisputedTurn {
  readonly run: string;
  readonly trajectory: string;
  readonly turn: number;
  /** the pair that disputes it most, and how strongly: the smaller of both credits in units of its spread */
  readonly a: string;
  readonly b: string;
  readonly strength: number;
  /** per estimator; null: nothing said */
  readonly values: Readonly<Record<string, number | null>>;
}

/** The most disputed turns, overall (each once, by the pair that disputes it most) and of every pair. */
export function disputedTurns(candidates: Candidates, spreads: PairSpreads, topK: number) {
  const column = new Map(candidates.values);
  const count = candidates.turn.length;
  const strongest = new Float64Array(count);
  const by = new Array<string>(count);
  const byPair = spreads.map(([pair, [spreadLeft, spreadRight]]) => {
    const [left, right] = namesOf(pair).map((name) => column.get(name) ?? new Float64Array(count).fill(NaN));
    const strengthOf = (row: number) => dispute(left[row], right[row], spreadLeft, spreadRight);
    const top = new TopRows(Math.min(topK, count));
    for (let row = 0; row < count; row++) {
      const strength = strengthOf(row);
      top.offer(row, rankOf(strength));
      // of equals the first pair
      if (!(rankOf(strength) > rankOf(strongest[row]))) continue;
      strongest[row] = strength;
      by[row] = pair;
    }
    return [pair, top.descending().map(({ row }) => shown(candidates, row, pair, strengthOf(row)))] as const;
  });
  const overall = new TopRows(Math.min(topK, count));
  for (let row = 0; row < count; row++) overall.offer(row, rankOf(strongest[row]));
  return { overall: overall.descending().map(({ row }) => shown(candidates, row, by[row], strongest[row])), byPair };
}

function shown(candidates: Candidates, row: number, pair: string, strength: number): DisputedTurn {
  const [a, b] = namesOf(pair);
  const values = candidates.values.map(([name, column]) => [name, Number.isFinite(column[row]) ? column[row] : null]);
  return {
    run: candidates.run[row],
    trajectory: candidates.trajectory[row],
    turn: candidates.turn[row],
    a,
    b,
    strength,
    values: Object.fromEntries(values),
  };
}
