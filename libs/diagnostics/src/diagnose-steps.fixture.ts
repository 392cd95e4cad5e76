import { trajectoryBatch } from '#lib/dataset';
import { EARLIER_CHECKPOINTS, type Checkpoint, type CheckpointInRun } from './checkpoints.js';
import type { AnyDiagnostic, TrainingStepData } from './diagnostic.js';
import { measureStep, readRun, type Diagnosis } from './run-diagnostic.js';
import type { Settings } from './settings.js';

type Record_ = Omit<Parameters<typeof trajectoryBatch>[0][number], 'trainingStep'>;

interface GivenStep extends Partial<Pick<TrainingStepData, 'metrics'>> {
  readonly records?: readonly Record_[];
  readonly checkpoint?: Pick<Checkpoint, 'tensors'>;
}

/** Measures and reads a run of training steps from 0, each of what it holds: records, metrics, a checkpoint. */
export function diagnoseSteps(
  diagnostic: AnyDiagnostic,
  steps: readonly GivenStep[],
  thresholds?: Settings[string],
): Diagnosis {
  const checkpoints = checkpointsInRun(steps);
  const outcomes = steps.map(({ records = [], metrics = {} }, trainingStep) => {
    const checkpoint = checkpoints.get(trainingStep) ?? null;
    const trajectories = trajectoryBatch(records.map((record) => ({ ...record, trainingStep }) as never), { exactTokens: true }); // prettier-ignore
    return { trainingStep, outcome: measureStep(diagnostic, { trainingStep, trajectories, metrics, checkpoint }) };
  });
  return readRun(diagnostic, outcomes, thresholds);
}

/** The same step so many times. */
export const times = <Step>(count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

/** Each with those before it that have the numbers of the first. */
function checkpointsInRun(steps: readonly GivenStep[]): ReadonlyMap<number, CheckpointInRun> {
  const found = new Map<number, CheckpointInRun>();
  const alike: Checkpoint[] = [];
  steps.forEach(({ checkpoint }, trainingStep) => {
    if (!checkpoint) return;
    const { tensors } = checkpoint;
    const kind = JSON.stringify(Object.entries(tensors).map(([name, { length }]) => [name, length]));
    const isComparable = kind === (alike[0]?.kind ?? kind);
    const latest = alike.slice(1).slice(-EARLIER_CHECKPOINTS);
    found.set(trainingStep, { trainingStep, kind, tensors, isComparable, earlier: [...alike.slice(0, 1), ...latest] });
    if (isComparable) alike.push({ trainingStep, kind, tensors });
  });
  return found;
}
