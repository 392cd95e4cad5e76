import type { ReadModel } from './read-model.js';
import {
  COUNT_COLUMNS,
  countChange,
  NO_TRAJECTORIES,
  type Before,
  type TrajectoryCounts,
} from './trajectory-counts.js';
import type { TrajectoryRow } from './trajectory.projection.js';

export interface TrajectoryGroupRow extends TrajectoryCounts {
  readonly firstPosition: number;
  readonly trainingStep: number;
  readonly name: string;
  outcomeMin: number | null;
  outcomeMax: number | null;
}

export const trajectoryGroupModel: ReadModel<TrajectoryGroupRow> = {
  table: 'trajectory_group',
  key: ['firstPosition'],
  columns: {
    firstPosition: 'bigint',
    trainingStep: 'integer',
    name: 'text',
    ...COUNT_COLUMNS,
    outcomeMin: 'double precision',
    outcomeMax: 'double precision',
  },
};

export function openGroup(trainingStep: number, name: string, firstPosition: number): TrajectoryGroupRow {
  return { firstPosition, trainingStep, name, ...NO_TRAJECTORIES, outcomeMin: null, outcomeMax: null };
}

export function countInGroup(group: TrajectoryGroupRow, before: Before, after: TrajectoryRow): void {
  countChange(group, before, after);
  const outcome = after.outcomeReward;
  if (outcome === null || after.state !== 'finished' || before?.state === 'finished') return;
  group.outcomeMin = Math.min(group.outcomeMin ?? outcome, outcome);
  group.outcomeMax = Math.max(group.outcomeMax ?? outcome, outcome);
}
