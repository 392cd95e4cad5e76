import { z } from 'zod';
import { defineEvent } from './define-event.js';
import {
  Flag,
  MAX_SKETCHED_TENSORS,
  Name,
  Parent,
  Reward,
  Signals,
  SketchedTensor,
  Text,
  TokenColumn,
  TokenColumns,
  TrainingStep,
  TrajectoryRecord,
  TurnIndex,
} from './fields.js';

/** The run began. Written by the platform when the run is created. */
export const RunStarted = defineEvent('run.started', 1, {
  project: Name,
  name: Name,
  config: z.record(z.string(), z.json()).optional(),
});

/** One optimizer iteration ended, with what the trainer measured. null: could not be measured. */
export const TrainingStepRecorded = defineEvent('trainingStep.recorded', 1, {
  trainingStep: TrainingStep,
  metrics: z.record(z.string().min(1).max(256), z.union([z.number(), z.null()])),
});

/** One thought-action-observation step ended. The turns of a trajectory arrive in order, `turn` from 0. */
export const TurnRecorded = defineEvent('turn.recorded', 1, {
  trajectory: Name,
  group: Name,
  trainingStep: TrainingStep,
  parent: Parent.optional(),
  turn: TurnIndex,
  state: Text.optional(),
  action: Text.optional(),
  reward: Reward.optional(),
  signals: Signals.optional(),
  tokens: TokenColumns.optional(),
});

/** The trajectory reached its end. `turnCount`, where it is said, shows turns that never arrived. */
export const TrajectoryEnded = defineEvent('trajectory.ended', 1, {
  trajectory: Name,
  group: Name,
  trainingStep: TrainingStep,
  parent: Parent.optional(),
  outcomeReward: Reward.optional(),
  success: Flag.optional(),
  signals: Signals.optional(),
  turnCount: TurnIndex.optional(),
});

/** A whole rollout at once. */
export const TrajectoryRecorded = defineEvent('trajectory.recorded', 1, TrajectoryRecord.shape);

/** Signals that arrive later than the trajectory, by a person or a model. Every attempt is kept. */
export const AnnotationRecorded = defineEvent('annotation.recorded', 1, {
  trajectory: Name,
  annotator: Name,
  schema: Name.optional(),
  attempt: z.int().nonnegative().optional(),
  status: z.enum(['ok', 'failed']).optional(),
  failureReason: z.string().optional(),
  /** of the trajectory */
  signals: Signals.optional(),
  turns: z.array(z.looseObject({ turn: TurnIndex, signals: Signals, rationale: z.string().optional() })).optional(),
});

/** A sketch (random projection) of the parameters after a training step; `tensors` says how it is divided among them. */
export const CheckpointRecorded = defineEvent('checkpoint.recorded', 1, {
  trainingStep: TrainingStep,
  sketch: TokenColumn,
  tensors: z.array(SketchedTensor).min(1).max(MAX_SKETCHED_TENSORS).optional(),
  projection: z.json().optional(),
});

/** The trainer went back to the state after `toTrainingStep`; what came later is superseded, not deleted. */
export const RunRewound = defineEvent('run.rewound', 1, { toTrainingStep: TrainingStep });

/** The run is over. */
export const RunEnded = defineEvent('run.ended', 1, {
  state: z.enum(['completed', 'failed', 'stopped']).optional(),
  reason: z.string().optional(),
});

/** The platform's own: somebody asked for credit as of this position. */
export const AnalysisRequested = defineEvent('analysis.requested', 1, {
  analysis: Name,
  request: z.record(z.string(), z.json()),
});

/** The analysis of that request has ended. */
export const AnalysisCompleted = defineEvent('analysis.completed', 1, {
  analysis: Name,
  state: z.enum(['completed', 'failed', 'cancelled']),
});

const AlertFields = {
  alert: Name,
  diagnostic: Name,
  rule: Name,
  level: z.enum(['info', 'warn', 'critical']),
  /** what it means */
  says: z.string(),
  /** the values that the rule's conditions saw when it opened */
  saw: z.record(z.string(), z.number()),
  /** whose values opened or closed it */
  trainingStep: TrainingStep,
  /** the position before which events were known */
  asOf: z.int().nonnegative(),
};

/** A diagnostic crossed its threshold and stayed beyond it. */
export const AlertOpened = defineEvent('alert.opened', 1, AlertFields);

/** It came back, or what it spoke of was superseded. */
export const AlertClosed = defineEvent('alert.closed', 1, AlertFields);

/** Payloads were purged; the hashes remain. */
export const RunErased = defineEvent('run.erased', 1, { reason: z.string().optional() });

/** The catalogue is a value; the union of what may stand in a run's stream follows from it. */
export const RUN_EVENTS = [
  RunStarted,
  TrainingStepRecorded,
  TurnRecorded,
  TrajectoryEnded,
  TrajectoryRecorded,
  AnnotationRecorded,
  CheckpointRecorded,
  RunRewound,
  RunEnded,
  AnalysisRequested,
  AnalysisCompleted,
  AlertOpened,
  AlertClosed,
  RunErased,
] as const;

export type RunEvent = z.infer<(typeof RUN_EVENTS)[number]['schema']>;
export type RunEventType = RunEvent['type'];

/** Only the platform writes these; a producer that sends one is refused. */
export const PLATFORM_EVENTS: ReadonlySet<RunEventType> = new Set([
  'run.started',
  'analysis.requested',
  'analysis.completed',
  'alert.opened',
  'alert.closed',
  'run.erased',
]);
