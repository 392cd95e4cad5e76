import {
  DIAGNOSTICS,
  measureStep,
  type AnyDiagnostic,
  type CheckpointInRun,
  type Settings,
  type StepOutcome,
  type TrainingStepData,
} from '#lib/diagnostics';
import { messageOf } from '#lib/kernel';
import type { SegmentStore } from '#lib/storage';
import { OpenSegments, type StepSource } from './load-step.js';

/** All that the figures of some training steps depend on. It travels to a thread as it is. */
export interface MeasureTask {
  readonly steps: readonly StepToMeasure[];
  /** what differs from their defaults */
  readonly settings: Settings;
}

export interface StepToMeasure {
  readonly trainingStep: number;
  readonly source: StepSource;
  readonly metrics: Readonly<Record<string, number>>;
  readonly checkpoint: CheckpointInRun | null;
  /** ids of the diagnostics whose figures are not known yet */
  readonly diagnostics: readonly string[];
}

export interface MeasuredDiagnostic {
  readonly trainingStep: number;
  readonly diagnostic: string;
  readonly version: number;
  readonly outcome: StepOutcome;
}

/** Measures training steps, each segment being opened once. A diagnostic that throws fails alone, with its reason. */
export async function measureTask(
  store: SegmentStore,
  { steps, settings }: MeasureTask,
  catalogue: readonly AnyDiagnostic[] = DIAGNOSTICS,
): Promise<MeasuredDiagnostic[]> {
  const segments = new OpenSegments(store);
  const measured: MeasuredDiagnostic[] = [];
  for (const { source, diagnostics, ...step } of steps) {
    const data: TrainingStepData = { ...step, trajectories: await segments.trajectoriesOf(source) };
    for (const diagnostic of catalogue.filter(({ id }) => diagnostics.includes(id))) {
      const { id, version } = diagnostic;
      const outcome = outcomeOf(diagnostic, data, settings[id]);
      measured.push({ trainingStep: step.trainingStep, diagnostic: id, version, outcome });
    }
  }
  return measured;
}

function outcomeOf(diagnostic: AnyDiagnostic, step: TrainingStepData, given?: Settings[string]): StepOutcome {
  try {
    return measureStep(diagnostic, step, given);
  } catch (error) {
    return { kind: 'failed', reason: messageOf(error) };
  }
}
