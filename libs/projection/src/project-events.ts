import type { LoggedEvent } from '#lib/event-log';
import type { RunEvent } from '#lib/protocol';
import { annotationRows } from './annotation.projection.js';
import { checkpointSketches } from './checkpoint-sketch.projection.js';
import { instantOf } from './instant.js';
import { metricPoints } from './metric-point.projection.js';
import { countSignals, countTokens, withFields } from './signal-summary.projection.js';
import { storable } from './storable.js';
import { openTrainingStep, type TrainingStepRow } from './training-step.projection.js';
import { countChange, type Before } from './trajectory-counts.js';
import { countInGroup, openGroup } from './trajectory-group.projection.js';
import {
  openTrajectory,
  takeEnd,
  takeTurn,
  takeWhole,
  type EndEvent,
  type TrajectoryRow,
  type TurnEvent,
  type WholeEvent,
} from './trajectory.projection.js';
import type { WorkingSet } from './working-set.js';

/** How much may wait before a segment is cut. The cuts follow from the log and these two, and from nothing else. */
export interface SegmentSize {
  readonly turns: number;
  /** about, in memory: long texts and many tokens make a segment full before its turns do */
  readonly bytes: number;
}

/** Where the fold must stop, because what comes next is done in the database. */
export type Boundary =
  | { readonly kind: 'cut' }
  | { readonly kind: 'rewind'; readonly toTrainingStep: number; at: Date }
  | { readonly kind: 'erase'; readonly reason: string | null; at: Date };

/**
 * Folds events into the set, in order, until they end or a boundary is reached. The event that made the boundary is
 * folded in. The same events give the same rows however they are divided into calls.
 *
 * @param from index of the first event to fold
 * @returns index of the first event that was not folded
 */
export function projectEvents(
  set: WorkingSet,
  events: readonly LoggedEvent[],
  from: number,
  size: SegmentSize,
): { next: number; boundary: Boundary | null } {
  for (let i = from; i < events.length; i++) {
    const boundary = projectEvent(set, events[i], size);
    if (boundary) return { next: i + 1, boundary };
  }
  return { next: events.length, boundary: null };
}

function projectEvent(set: WorkingSet, logged: LoggedEvent, size: SegmentSize): Boundary | null {
  const { position, event } = logged;
  const at = instantOf(event.at, logged.receivedAt);
  set.checkpoint.position = position + 1;
  set.run.position = position + 1;
  set.run.lastEventAt = at;
  switch (event.type) {
    case 'run.started':
      set.run.startedAt ??= at;
      return null;
    case 'turn.recorded':
      projectTurn(set, event, position, at);
      return isFull(set, size) ? { kind: 'cut' } : null;
    case 'trajectory.ended':
      projectEnd(set, event, position, at);
      return isFull(set, size) ? { kind: 'cut' } : null;
    case 'trajectory.recorded':
      projectWhole(set, event, position, at);
      return isFull(set, size) ? { kind: 'cut' } : null;
    case 'trainingStep.recorded':
      projectTrainingStep(set, event, position, at);
      return null;
    case 'annotation.recorded':
      projectAnnotation(set, event, position, at);
      return null;
    case 'run.rewound':
      return { kind: 'rewind', toTrainingStep: event.toTrainingStep, at };
    case 'run.ended':
      set.run.state = event.state ?? 'completed';
      set.run.endReason = event.reason === undefined ? null : storable(event.reason);
      set.run.endedAt = at;
      return { kind: 'cut' };
    case 'analysis.requested':
      return { kind: 'cut' };
    case 'checkpoint.recorded':
      set.sketches.push(...checkpointSketches(event, position, at));
      return null;
    case 'analysis.completed':
    case 'alert.opened':
    case 'alert.closed':
      return null;
    case 'run.erased':
      return { kind: 'erase', reason: event.reason === undefined ? null : storable(event.reason), at };
  }
}

function projectTurn(set: WorkingSet, event: TurnEvent, position: number, at: Date): void {
  changeTrajectory(set, event.trajectory, event, position, at, (trajectory) => {
    if (!takeTurn(trajectory, event, position)) return;
    countSignals(set.signals, 'recorded', 'turn', withFields(event.signals, { reward: event.reward }));
    if (event.tokens) countTokens(set.signals, event.tokens);
  });
}

function projectEnd(set: WorkingSet, event: EndEvent, position: number, at: Date): void {
  changeTrajectory(set, event.trajectory, event, position, at, (trajectory) => {
    if (takeEnd(trajectory, event, position, at)) countOutcome(set, event);
  });
}

function projectWhole(set: WorkingSet, event: WholeEvent, position: number, at: Date): void {
  changeTrajectory(set, event.id, event, position, at, (trajectory) => {
    if (!takeWhole(trajectory, event, position, at)) return;
    countOutcome(set, event);
    for (const { signals, reward, tokens } of event.turns) {
      countSignals(set.signals, 'recorded', 'turn', withFields(signals, { reward }));
      if (tokens) countTokens(set.signals, tokens);
    }
  });
}

function projectTrainingStep(
  set: WorkingSet,
  event: Extract<RunEvent, { type: 'trainingStep.recorded' }>,
  position: number,
  at: Date,
): void {
  const step = stepOf(set, event.trainingStep, position);
  step.recordedPosition = position;
  step.recordedAt = at;
  set.metrics.push(...metricPoints(event, position, at));
}

function projectAnnotation(
  set: WorkingSet,
  event: Extract<RunEvent, { type: 'annotation.recorded' }>,
  position: number,
  at: Date,
): void {
  set.annotations.push(...annotationRows(event, position, at));
  set.run.annotationCount++;
  if (event.signals) countSignals(set.signals, 'annotated', 'trajectory', event.signals);
  for (const { signals } of event.turns ?? []) countSignals(set.signals, 'annotated', 'turn', signals);
}

function countOutcome(set: WorkingSet, { signals, outcomeReward, success }: EndEvent | WholeEvent): void {
  countSignals(set.signals, 'recorded', 'trajectory', withFields(signals, { outcomeReward, success }));
}

/** Opens the trajectory where it is new, lets `change` at it, and counts what came of it. */
function changeTrajectory(
  set: WorkingSet,
  id: string,
  place: Pick<WholeEvent, 'group' | 'trainingStep' | 'parent'>,
  position: number,
  at: Date,
  change: (trajectory: TrajectoryRow) => void,
): void {
  const known = set.trajectories.change(id);
  const before: Before = known ? { turnCount: known.turnCount, state: known.state } : null;
  const trajectory = known ?? set.trajectories.add(openTrajectory(id, place, position, at));
  change(trajectory);

  const step = stepOf(set, trajectory.trainingStep, position);
  let group = set.groups.change(trajectory.groupName, trajectory.trainingStep);
  if (!group) {
    group = set.groups.add(openGroup(trajectory.trainingStep, trajectory.groupName, position));
    step.groupCount++;
    set.run.groupCount++;
  }
  countInGroup(group, before, trajectory);
  countChange(step, before, trajectory);
  countChange(set.run, before, trajectory);
  if (trajectory.state === 'finished' && before?.state !== 'finished') wait(set, trajectory);
}

function stepOf(set: WorkingSet, trainingStep: number, position: number): TrainingStepRow {
  set.run.trainingStepMax = Math.max(set.run.trainingStepMax ?? trainingStep, trainingStep);
  return set.steps.change(trainingStep) ?? set.steps.add(openTrainingStep(trainingStep, position));
}

function wait({ checkpoint }: WorkingSet, { turnCount, bytes }: TrajectoryRow): void {
  checkpoint.waitingTrajectories++;
  checkpoint.waitingTurns += turnCount;
  checkpoint.waitingBytes += bytes;
}

/** Asked after every event that can end a trajectory, so a trainingStep.recorded never finds more waiting than this. */
function isFull({ checkpoint }: WorkingSet, size: SegmentSize): boolean {
  return checkpoint.waitingTurns >= size.turns || checkpoint.waitingBytes >= size.bytes;
}
