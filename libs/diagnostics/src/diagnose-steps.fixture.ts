import { trajectoryBatch } from '#lib/dataset';
import type { AnyDiagnostic, TrainingStepData } from './diagnostic.js';
import { measureStep, readRun, type Diagnosis } from './run-diagnostic.js';

type Record_ = Omit<Parameters<typeof trajectoryBatch>[0][number], 'trainingStep'>;

interface GivenStep extends Partial<Pick<TrainingStepData, 'metrics' | 'checkpoint'>> {
  readonly records?: readonly Record_[];
}

/** Measures and reads a run of training steps from 0, each of what it holds: records, metrics, a checkpoint. */
export function diagnoseSteps(diagnostic: AnyDiagnostic, steps: readonly GivenStep[], thresholds?: unknown): Diagnosis {
  const outcomes = steps.map(({ records = [], metrics = {}, checkpoint = null }, trainingStep) => {
    const trajectories = trajectoryBatch(records.map((record) => ({ ...record, trainingStep }) as never), { exactTokens: true }); // prettier-ignore
    return { trainingStep, outcome: measureStep(diagnostic, { trainingStep, trajectories, metrics, checkpoint }) };
  });
  return readRun(diagnostic, outcomes, thresholds);
}

/** The same step so many times. */
export const times = <Step>(count: number, step: Step): Step[] => Array.from({ length: count }, () => step);
