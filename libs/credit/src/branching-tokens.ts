import type { TrajectoryBatch } from '#lib/dataset';
import { rowsWhere, topRows } from '#lib/numeric';
import { standardScores } from './standard-scores.js';

/**
 * Each value against the others of its rollout.
 *
 *     z = (x − mean) / (std + ε)      over the rollout's rows, ddof = 0; all equal, or one: 0
 *
 * @param values [tokens]
 * @param rolloutOf [tokens] -1: takes no part, gets 0
 */
export function standardizedInRollouts(
  values: Float64Array,
  rolloutOf: Int32Array,
  rollouts: number,
  epsilon: number,
): Float64Array {
  return standardScores(values, rolloutOf, rollouts, { epsilon, singleton: 'zero', ddof: 0 });
}

/**
 * Where a group's rollouts should branch: tokens that are unsure and whose future became likelier come first, then the
 * others by score; where there are too few, the list begins again.
 *
 * @param score [tokens] the product of both z
 * @param isStrict says of a token that both z are positive
 * @param candidates rows, ascending
 * @returns rows, `budget` of them unless there is no candidate
 */
export function branchingTokens(
  score: Float64Array,
  isStrict: (row: number) => boolean,
  candidates: Int32Array,
  budget: number,
): number[] {
  const byScore = (rows: Int32Array, most: number) =>
    Array.from(topRows(score, rows, most)).sort((a, b) => score[b] - score[a]);
  const strict = byScore(candidates.filter(isStrict), budget);
  const others = candidates.filter((row) => !isStrict(row));
  const chosen = [...strict, ...byScore(others, budget - strict.length)];
  if (chosen.length === 0) return [];
  return Array.from({ length: budget }, (_, n) => chosen[n % chosen.length]);
}

/** [groups] the rows of each group, ascending. */
export function rowsOfGroups(rows: Int32Array, groupOf: (row: number) => number, groupCount: number): Int32Array[] {
  const lists: number[][] = Array.from({ length: groupCount }, () => []);
  for (const row of rows) lists[groupOf(row)].push(row);
  return lists.map((list) => Int32Array.from(list));
}

/** A rollout that was split off another one of the batch. */
export interface Branch {
  /** row of the branch, and of the rollout that it shares its beginning with */
  readonly trajectory: number;
  readonly parent: number;
  /** the last generated token that both share, counted over the parent */
  readonly split: number;
  readonly score: number;
}

/** The branches whose parent is an init rollout of the batch, in its order; how many have none. */
export function branchesOf(
  { parentOf }: Pick<TrajectoryBatch, 'parentOf'>,
  isBranch: (trajectory: number) => boolean,
  split: ArrayLike<number>,
  score: ArrayLike<number>,
): { branches: Branch[]; orphans: number } {
  const all = rowsWhere(parentOf.length, isBranch);
  const rooted = all.filter((row) => parentOf[row] >= 0 && !isBranch(parentOf[row]));
  const branches = Array.from(rooted, (row) => ({
    trajectory: row,
    parent: parentOf[row],
    split: split[row],
    score: score[row],
  }));
  return { branches, orphans: all.length - rooted.length };
}
