import type { AnnotationRow } from './annotation.projection.js';
import { START, type Checkpoint } from './checkpoint.js';
import type { CheckpointSketchRow } from './checkpoint-sketch.projection.js';
import type { MetricPointRow } from './metric-point.projection.js';
import { NO_PROGRESS, type RunProgressRow } from './run-progress.projection.js';
import { signalScope, type SignalSummaryRow } from './signal-summary.projection.js';
import type { TrainingStepRow } from './training-step.projection.js';
import type { TrajectoryGroupRow } from './trajectory-group.projection.js';
import type { TrajectoryRow } from './trajectory.projection.js';
import { WorkingRows } from './working-rows.js';

/** The two rows that every run has one of. */
export interface Progress {
  readonly checkpoint: Checkpoint;
  readonly run: RunProgressRow;
}

/** The rows that a part of a run's events speaks of, as they are stored. */
export interface StoredRows {
  readonly trajectories?: readonly TrajectoryRow[];
  readonly groups?: readonly TrajectoryGroupRow[];
  readonly steps?: readonly TrainingStepRow[];
  readonly signals?: readonly SignalSummaryRow[];
}

/** What the events of a run are folded into: rows that are loaded, changed and stored together. It changes `progress`. */
export class WorkingSet implements Progress {
  readonly checkpoint: Checkpoint;
  readonly run: RunProgressRow;
  readonly trajectories: WorkingRows<TrajectoryRow>;
  readonly groups: WorkingRows<TrajectoryGroupRow>;
  readonly steps: WorkingRows<TrainingStepRow>;
  readonly signals: WorkingRows<SignalSummaryRow>;
  /** new ones; they never change */
  readonly metrics: MetricPointRow[] = [];
  readonly annotations: AnnotationRow[] = [];
  readonly sketches: CheckpointSketchRow[] = [];

  constructor(
    { checkpoint, run }: Progress = { checkpoint: { ...START }, run: { ...NO_PROGRESS } },
    stored: StoredRows = {},
  ) {
    this.checkpoint = checkpoint;
    this.run = run;
    this.trajectories = new WorkingRows(({ id: name }) => ({ name }), stored.trajectories);
    this.groups = new WorkingRows(({ trainingStep: scope, name }) => ({ scope, name }), stored.groups);
    this.steps = new WorkingRows(({ trainingStep: name }) => ({ name }), stored.steps);
    this.signals = new WorkingRows(
      ({ source, level, name }) => ({ scope: signalScope(source, level), name }),
      stored.signals,
    );
  }
}
