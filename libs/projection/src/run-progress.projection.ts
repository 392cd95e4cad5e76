import type { ReadModel } from './read-model.js';
import { COUNT_COLUMNS, NO_TRAJECTORIES, type TrajectoryCounts } from './trajectory-counts.js';

export interface RunProgressRow extends TrajectoryCounts {
  state: 'running' | 'completed' | 'failed' | 'stopped' | 'erased';
  endReason: string | null;
  /** events projected */
  position: number;
  startedAt: Date | null;
  endedAt: Date | null;
  lastEventAt: Date | null;
  trainingStepMax: number | null;
  /** trajectories that a rewind superseded; they are in the other counts as well */
  supersededCount: number;
  groupCount: number;
  annotationCount: number;
}

export const runProgressModel: ReadModel<RunProgressRow> = {
  table: 'run_progress',
  key: [],
  columns: {
    state: 'text',
    endReason: 'text',
    position: 'bigint',
    startedAt: 'timestamptz',
    endedAt: 'timestamptz',
    lastEventAt: 'timestamptz',
    trainingStepMax: 'integer',
    ...COUNT_COLUMNS,
    supersededCount: 'integer',
    groupCount: 'integer',
    annotationCount: 'integer',
  },
};

export const NO_PROGRESS: Readonly<RunProgressRow> = {
  state: 'running',
  endReason: null,
  position: 0,
  startedAt: null,
  endedAt: null,
  lastEventAt: null,
  trainingStepMax: null,
  ...NO_TRAJECTORIES,
  supersededCount: 0,
  groupCount: 0,
  annotationCount: 0,
};
