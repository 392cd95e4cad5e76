import type { ReadModel } from './read-model.js';
import { COUNT_COLUMNS, NO_TRAJECTORIES, type TrajectoryCounts } from './trajectory-counts.js';

export interface TrainingStepRow extends TrajectoryCounts {
  readonly firstPosition: number;
  readonly trainingStep: number;
  groupCount: number;
  /** of the last trainingStep.recorded */
  recordedPosition: number | null;
  recordedAt: Date | null;
}

export const trainingStepModel: ReadModel<TrainingStepRow> = {
  table: 'training_step',
  key: ['firstPosition'],
  columns: {
    firstPosition: 'bigint',
    trainingStep: 'integer',
    ...COUNT_COLUMNS,
    groupCount: 'integer',
    recordedPosition: 'bigint',
    recordedAt: 'timestamptz',
  },
};

export function openTrainingStep(trainingStep: number, firstPosition: number): TrainingStepRow {
  return {
    firstPosition,
    trainingStep,
    ...NO_TRAJECTORIES,
    groupCount: 0,
    recordedPosition: null,
    recordedAt: null,
  };
}
