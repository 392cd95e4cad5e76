import type { ColumnType } from './read-model.js';
import type { TrajectoryRow } from './trajectory.projection.js';

/** What is counted of the trajectories of a run, of a training step, of a group. */
export interface TrajectoryCounts {
  trajectoryCount: number;
  finishedCount: number;
  incompleteCount: number;
  turnCount: number;
  /** of the finished, those said to have succeeded or failed */
  judgedCount: number;
  successCount: number;
  /** of the finished, those with an outcome reward */
  outcomeCount: number;
  outcomeSum: number;
}

export const COUNT_COLUMNS = {
  trajectoryCount: 'integer',
  finishedCount: 'integer',
  incompleteCount: 'integer',
  turnCount: 'bigint',
  judgedCount: 'integer',
  successCount: 'integer',
  outcomeCount: 'integer',
  outcomeSum: 'double precision',
} as const satisfies Record<keyof TrajectoryCounts, ColumnType>;

export const NO_TRAJECTORIES: Readonly<TrajectoryCounts> = {
  trajectoryCount: 0,
  finishedCount: 0,
  incompleteCount: 0,
  turnCount: 0,
  judgedCount: 0,
  successCount: 0,
  outcomeCount: 0,
  outcomeSum: 0,
};

/** What counts of a trajectory before an event; null: it was not there. */
export type Before = Pick<TrajectoryRow, 'turnCount' | 'state'> | null;

/** Counts what an event changed at a trajectory. Outcomes are added in the order in which trajectories finish. */
export function countChange(counts: TrajectoryCounts, before: Before, after: TrajectoryRow): void {
  if (!before) counts.trajectoryCount++;
  counts.turnCount += after.turnCount - (before?.turnCount ?? 0);
  if (before?.state === after.state) return;
  if (before?.state === 'incomplete') counts.incompleteCount--;
  if (after.state === 'incomplete') counts.incompleteCount++;
  if (after.state !== 'finished') return;
  counts.finishedCount++;
  if (after.success !== null) counts.judgedCount++;
  if (after.success) counts.successCount++;
  if (after.outcomeReward === null) return;
  counts.outcomeCount++;
  counts.outcomeSum += after.outcomeReward;
}
