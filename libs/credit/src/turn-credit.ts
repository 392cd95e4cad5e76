import { numbers, type Level, type TrajectoryBatch } from '#lib/dataset';
import { repeatRows, rowMeans } from '#lib/numeric';
import type { Credit } from './estimator.js';

/**
 * One number per turn, whatever the level of the credit, so that estimators of different levels can be laid side by side.
 *
 *     trajectory: the same number on every turn of it
 *     turn:       the credit itself
 *     token:      the mean over the turn's tokens with mask 1 that have a value
 *
 * NaN where nothing is said, also where a turn has no such token.
 *
 * @returns [turns]
 */
export function turnCredit(trajectories: TrajectoryBatch, credit: Credit): Float64Array {
  const { level, values } = credit;
  if (level === 'trajectory') return repeatRows(values, trajectories.turnOffsets);
  if (level === 'turn') return values;
  return rowMeans(values, trajectories.tokenOffsets, numbers(trajectories, 'token.mask'));
}

/**
 * The credit repeated down to a level: a trajectory's on all its turns, a turn's on all its tokens with mask 1, the
 * others getting 0. null where the credit is given below that level.
 *
 * @returns [rows of level]
 */
export function creditAt(trajectories: TrajectoryBatch, credit: Credit, level: Level): Float64Array | null {
  if (credit.level === level) return credit.values;
  if (level === 'trajectory' || credit.level === 'token') return null;
  const turns = turnCredit(trajectories, credit);
  return level === 'turn' ? turns : repeatRows(turns, trajectories.tokenOffsets, numbers(trajectories, 'token.mask'));
}
