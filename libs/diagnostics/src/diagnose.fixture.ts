import { trajectoryBatch } from '#lib/dataset';
import type { TrajectoryRecord } from '#lib/protocol';
import type { AnyDiagnostic } from './diagnostic.js';
import { measureStep, readRun, type Diagnosis } from './run-diagnostic.js';
import type { Settings } from './settings.js';

interface Given {
  readonly params?: Settings[string];
  readonly thresholds?: Settings[string];
  /** [training steps] */
  readonly metrics?: readonly Record<string, number>[];
}

/** Measures and reads a run of one training step per entry, numbered from 0 whatever the records say. */
export function diagnoseRecords(
  diagnostic: AnyDiagnostic,
  steps: readonly (readonly TrajectoryRecord[])[],
  { params, thresholds, metrics = [] }: Given = {},
): Diagnosis {
  const outcomes = steps.map((records, trainingStep) => {
    const trajectories = trajectoryBatch(records.map((record) => ({ ...record, trainingStep })));
    const step = { trainingStep, trajectories, metrics: metrics[trainingStep] ?? {}, checkpoint: null };
    return { trainingStep, outcome: measureStep(diagnostic, step, params) };
  });
  return readRun(diagnostic, outcomes, { ...params, ...thresholds });
}
