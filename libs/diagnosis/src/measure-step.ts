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
import { trajectoriesOf, type StepSource } from './load-step.js';

/** All that the figures of one training step depend on. It travels to a thread as it is. */
export interface MeasureTask {
  readonly trainingStep: number;
  readonly source: StepSource;
  readonly metrics: Readonly<Record<string, number>>;
  readonly checkpoint: CheckpointInRun | null;
  /** ids of the diagnostics whose figures are not known yet */
  readonly diagnostics: readonly string[];
  /** what differs from their defaults */
  readonly settings: Settings;
}

export interface MeasuredDiagnostic {
  readonly diagnostic: string;
  readonly version: number;
  readonly outcome: StepOutcome;
}

/** Measures one training step. A diagnostic that throws fails alone, with its reason. */
export async function measureTask(
  store: SegmentStore,
  { source, diagnostics, settings, ...task }: MeasureTask,
  catalogue: readonly AnyDiagnostic[] = DIAGNOSTICS,
): Promise<MeasuredDiagnostic[]> {
  const trajectories = await trajectoriesOf(store, source);
  const step: TrainingStepData = { ...task, trajectories };
  return catalogue
    .filter(({ id }) => diagnostics.includes(id))
    .map((diagnostic) => ({
      diagnostic: diagnostic.id,
      version: diagnostic.version,
      outcome: outcomeOf(diagnostic, step, settings[diagnostic.id]),
    }));
}

function outcomeOf(diagnostic: AnyDiagnostic, step: TrainingStepData, given?: Settings[string]): StepOutcome {
  try {
    return measureStep(diagnostic, step, given);
  } catch (error) {
    return { kind: 'failed', reason: messageOf(error) };
  }
}
