import {
  DIAGNOSTICS,
  measureStep,
  type AnyDiagnostic,
  type CheckpointInRun,
  type Settings,
  type StepOutcome,
  type TrainingStepData,
} from '#lib/diagnostics';
import { levelOf } from '#lib/dataset';
import { messageOf } from '#lib/kernel';
import type { SegmentStore } from '#lib/storage';
import { OpenSegments, type StepSource } from './load-step.js';
import { packOutcomes } from './packed-outcomes.js';

/** All that the figures of some training steps depend on. It travels to a thread as it is. */
export interface MeasureTask {
  readonly steps: readonly StepToMeasure[];
  /** what differs from their defaults */
  readonly settings: Settings;
  /** the run has tokens: their files are not read to the end where nobody asks for them */
  readonly hasTokens: boolean;
}

export interface StepToMeasure {
  readonly trainingStep: number;
  readonly source: StepSource;
  readonly metrics: Readonly<Record<string, number>>;
  readonly checkpoint: CheckpointInRun | null;
  /** ids of the diagnostics whose figures are not known yet */
  readonly diagnostics: readonly string[];
}

/** What some diagnostics found in a training step: either those that read checkpoints, or those that do not. */
export interface MeasuredFigures {
  readonly trainingStep: number;
  /** in the order of the catalogue */
  readonly diagnostics: readonly { readonly id: string; readonly version: number }[];
  /** [diagnostics] packed here, where it holds nobody up */
  readonly outcomes: Uint8Array;
}

/** Measures training steps, each segment being opened once. A diagnostic that throws fails alone, with its reason. */
export async function measureTask(
  store: SegmentStore,
  task: MeasureTask,
  catalogue: readonly AnyDiagnostic[] = DIAGNOSTICS,
): Promise<MeasuredFigures[]> {
  const asked = new Set(task.steps.flatMap(({ diagnostics }) => diagnostics));
  const segments = new OpenSegments(
    store,
    !task.hasTokens || catalogue.some((diagnostic) => asked.has(diagnostic.id) && readsTokens(diagnostic)),
  );
  try {
    return await measuredOf(segments, task, catalogue);
  } finally {
    await segments.close();
  }
}

function readsTokens({ requires, accepts }: AnyDiagnostic): boolean {
  return [...requires, ...accepts].some((path) => levelOf(path) === 'token');
}

async function measuredOf(
  segments: OpenSegments,
  { steps, settings }: MeasureTask,
  catalogue: readonly AnyDiagnostic[],
): Promise<MeasuredFigures[]> {
  const measured: MeasuredFigures[] = [];
  for (const { source, diagnostics, ...step } of steps) {
    const data: TrainingStepData = { ...step, trajectories: await segments.trajectoriesOf(source) };
    const asked = catalogue.filter(({ id }) => diagnostics.includes(id));
    // figures that read checkpoints are of a revision of their own
    for (const members of Map.groupBy(asked, ({ readsCheckpoints = false }) => readsCheckpoints).values()) {
      measured.push({
        trainingStep: step.trainingStep,
        diagnostics: members.map(({ id, version }) => ({ id, version })),
        outcomes: packOutcomes(members.map((member) => outcomeOf(member, data, settings[member.id]))),
      });
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
