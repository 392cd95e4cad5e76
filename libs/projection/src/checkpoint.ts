import type { ReadModel } from './read-model.js';

/** How far a run is projected, and what waits for the next segment. */
export interface Checkpoint {
  /** the first event that is not projected */
  position: number;
  waitingTrajectories: number;
  waitingTurns: number;
  waitingBytes: number;
  /** also the ordinal of the next one */
  segmentCount: number;
}

export const checkpointModel: ReadModel<Checkpoint> = {
  table: 'projection_checkpoint',
  key: [],
  columns: {
    position: 'bigint',
    waitingTrajectories: 'integer',
    waitingTurns: 'integer',
    waitingBytes: 'bigint',
    segmentCount: 'integer',
  },
};

export const START: Readonly<Checkpoint> = {
  position: 0,
  waitingTrajectories: 0,
  waitingTurns: 0,
  waitingBytes: 0,
  segmentCount: 0,
};
