import { DIAGNOSTICS, measureStep, type AnyDiagnostic, type StepOutcome } from '#lib/diagnostics';
import type { SegmentStore } from '#lib/storage';
import { trajectoriesOf, type StepSource } from './load-step.js';

/** All that the figures of one training step depend on. It travels to a thread as it is. */
export interface MeasureTask {
  readonly trainingStep: number;
  readonly source: StepSource;
  readonly metrics: Readonly<Record<string, number>>;
  /** ids of the diagnostics whose figures are not known yet */
  readonly diagnostics: readonly string[];
}

export interface MeasuredDiagnostic {
  readonly diagnostic: string;
  readonly version: number;
  readonly outcome: StepOutcome;
}

/** Measures one training step. A diagnostic that throws fails alone, with its reason. */
export async function measureTask(
  store: SegmentStore,
  { trainingStep, source, metrics, diagnostics }: MeasureTask,
  catalogue: readonly AnyDiagnostic[] = DIAGNOSTICS,
): Promise<MeasuredDiagnostic[]> {
  const trajectories = await trajectoriesOf(store, source);
  const step = { trainingStep, trajectories, metrics, checkpoint: null };
  return catalogue
    .filter(({ id }) => diagnostics.includes(id))
    .map((diagnostic) => ({
      diagnostic: diagnostic.id,
      version: diagnostic.version,
      outcome: measureStep(diagnostic, step),
    }));
}
