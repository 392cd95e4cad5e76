import type { Queryable } from '#lib/storage';
import { annotationModel } from './annotation.projection.js';
import { checkpointModel } from './checkpoint.js';
import { checkpointSketchModel } from './checkpoint-sketch.projection.js';
import { metricPointModel } from './metric-point.projection.js';
import { runProgressModel } from './run-progress.projection.js';
import { signalSummaryModel } from './signal-summary.projection.js';
import { storeRows } from './stored-rows.js';
import { trainingStepModel } from './training-step.projection.js';
import { trajectoryGroupModel } from './trajectory-group.projection.js';
import { settleProblems, trajectoryModel } from './trajectory.projection.js';
import type { Progress, WorkingSet } from './working-set.js';

/** Stores the rows that have changed: at most one statement per read model. The set can be worked with further. */
export async function storeChanges(db: Queryable, runId: string, set: WorkingSet): Promise<void> {
  const trajectories = set.trajectories.takeChanged();
  trajectories.forEach(settleProblems);
  await storeRows(db, trajectoryModel, runId, trajectories);
  for (const trajectory of trajectories) trajectory.turnPositions = [];
  await storeRows(db, trajectoryGroupModel, runId, set.groups.takeChanged());
  await storeRows(db, trainingStepModel, runId, set.steps.takeChanged());
  await storeRows(db, signalSummaryModel, runId, set.signals.takeChanged());
  await storeRows(db, metricPointModel, runId, set.metrics.splice(0));
  await storeRows(db, annotationModel, runId, set.annotations.splice(0));
  await storeRows(db, checkpointSketchModel, runId, set.sketches.splice(0));
}

export async function storeProgress(db: Queryable, runId: string, { run, checkpoint }: Progress): Promise<void> {
  await storeRows(db, runProgressModel, runId, [run]);
  await storeRows(db, checkpointModel, runId, [checkpoint]);
}
