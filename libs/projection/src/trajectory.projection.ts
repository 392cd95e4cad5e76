import type { RunEvent, Signals } from '#lib/protocol';
import type { ReadModel } from './read-model.js';
import { andTurn, missingTurns, type TrajectoryProblems } from './trajectory-problems.js';
import { PER_TRAJECTORY, turnBytes } from './turn-bytes.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
export type TurnEvent = Event<'turn.recorded'>;
export type EndEvent = Event<'trajectory.ended'>;
export type WholeEvent = Event<'trajectory.recorded'>;

/**
 * live: no end was recorded. finished: ended and whole. incomplete: ended, and turns are missing; it is finished when
 * they arrive, and until then in no segment, so that no estimator sees a trajectory with holes.
 */
export type TrajectoryState = 'live' | 'finished' | 'incomplete';

/** A trajectory while a chunk is projected; the columns are explained in the migration. */
export interface TrajectoryRow {
  readonly firstPosition: number;
  readonly id: string;
  readonly trainingStep: number;
  readonly groupName: string;
  readonly startedAt: Date;
  parent: WholeEvent['parent'] | null;
  state: TrajectoryState;
  outcomeReward: number | null;
  success: boolean | null;
  signals: Signals | null;
  turnCount: number;
  contiguousTurns: number;
  /** what this chunk adds to the stored ones */
  turnPositions: number[];
  earlyTurns: Record<string, number> | null;
  recordedPosition: number | null;
  endedPosition: number | null;
  expectedTurns: number | null;
  endPosition: number | null;
  lastPosition: number;
  endedAt: Date | null;
  bytes: number;
  problems: TrajectoryProblems | null;
}

export const trajectoryModel: ReadModel<TrajectoryRow> = {
  table: 'trajectory',
  key: ['firstPosition'],
  columns: {
    firstPosition: 'bigint',
    id: 'text',
    trainingStep: 'integer',
    groupName: 'text',
    startedAt: 'timestamptz',
    parent: 'jsonb',
    state: 'text',
    outcomeReward: 'double precision',
    success: 'boolean',
    signals: 'json',
    turnCount: 'integer',
    contiguousTurns: 'integer',
    turnPositions: 'appended bigint[]',
    earlyTurns: 'jsonb',
    recordedPosition: 'bigint',
    endedPosition: 'bigint',
    expectedTurns: 'integer',
    endPosition: 'bigint',
    lastPosition: 'bigint',
    endedAt: 'timestamptz',
    bytes: 'bigint',
    problems: 'jsonb',
  },
};

/** A trajectory of which nothing is known but its place. */
export function openTrajectory(
  id: string,
  { group, trainingStep, parent }: Pick<WholeEvent, 'group' | 'trainingStep' | 'parent'>,
  position: number,
  startedAt: Date,
): TrajectoryRow {
  return {
    firstPosition: position,
    id,
    trainingStep,
    groupName: group,
    startedAt,
    parent: parent ?? null,
    state: 'live',
    outcomeReward: null,
    success: null,
    signals: null,
    turnCount: 0,
    contiguousTurns: 0,
    turnPositions: [],
    earlyTurns: null,
    recordedPosition: null,
    endedPosition: null,
    expectedTurns: null,
    endPosition: null,
    lastPosition: position,
    endedAt: null,
    bytes: PER_TRAJECTORY,
    problems: null,
  };
}

/** @returns whether the turn is the trajectory's from now on */
export function takeTurn(row: TrajectoryRow, event: TurnEvent, position: number): boolean {
  const { turn } = event;
  if (!isInPlace(row, event, position)) return false;
  if (turn < row.contiguousTurns || row.earlyTurns?.[turn] !== undefined) {
    row.problems = { ...row.problems, repeatedTurns: andTurn(row.problems?.repeatedTurns, turn) };
    return false;
  }
  // a trajectory recorded whole is ended as well
  if (row.expectedTurns !== null && turn >= row.expectedTurns) {
    row.problems = { ...row.problems, turnsAfterEnd: andTurn(row.problems?.turnsAfterEnd, turn) };
    return false;
  }
  row.parent ??= event.parent ?? null;
  row.turnCount++;
  row.bytes += turnBytes(event);
  if (turn === row.contiguousTurns) takeNext(row, position);
  else (row.earlyTurns ??= {})[turn] = position;
  judge(row, position);
  return true;
}

/** @returns whether this is the trajectory's end */
export function takeEnd(row: TrajectoryRow, event: EndEvent, position: number, endedAt: Date): boolean {
  if (!isInPlace(row, event, position) || !isFirstEnd(row, position)) return false;
  const found = turnsSeen(row);
  const said = event.turnCount ?? found;
  if (said < found) row.problems = { ...row.problems, saidTurnCount: said };
  row.parent ??= event.parent ?? null;
  takeOutcome(row, event, endedAt);
  row.endedPosition = position;
  row.expectedTurns = Math.max(said, found);
  judge(row, position);
  return true;
}

/** @returns whether the trajectory is the one that this event holds */
export function takeWhole(row: TrajectoryRow, event: WholeEvent, position: number, endedAt: Date): boolean {
  if (!isInPlace(row, event, position) || !isFirstEnd(row, position)) return false;
  if (row.firstPosition !== position) {
    // its turns came one by one before: these stand, and it has not ended by the account of who sent them
    noteRepeatedEnd(row, position);
    return false;
  }
  takeOutcome(row, event, endedAt);
  row.recordedPosition = position;
  row.endedPosition = position;
  row.turnCount = event.turns.length;
  row.contiguousTurns = event.turns.length;
  row.expectedTurns = event.turns.length;
  row.bytes += event.turns.reduce((sum, turn) => sum + turnBytes(turn), 0);
  judge(row, position);
  return true;
}

/** Names the turns that are missing as of now; the other problems were noted when they came. */
export function settleProblems(row: TrajectoryRow): void {
  const { missingTurns: before, ...others } = row.problems ?? {};
  const early = Object.keys(row.earlyTurns ?? {}).map(Number);
  const missing = missingTurns(row.contiguousTurns, early, row.expectedTurns ?? turnsSeen(row));
  if (missing) row.problems = { ...others, missingTurns: missing };
  else if (before) row.problems = Object.keys(others).length > 0 ? others : null;
}

function takeNext(row: TrajectoryRow, position: number): void {
  row.turnPositions.push(position);
  row.contiguousTurns++;
  const early = row.earlyTurns;
  if (!early) return;
  while (early[row.contiguousTurns] !== undefined) {
    row.turnPositions.push(early[row.contiguousTurns]);
    delete early[row.contiguousTurns++];
  }
  if (row.turnCount === row.contiguousTurns) row.earlyTurns = null;
}

function takeOutcome(row: TrajectoryRow, event: EndEvent | WholeEvent, endedAt: Date): void {
  row.outcomeReward = event.outcomeReward ?? null;
  row.success = event.success === undefined ? null : Boolean(event.success);
  row.signals = event.signals ?? null;
  row.endedAt = endedAt;
}

/** Sees whether an ended trajectory is whole. Once it is, it stays so. */
function judge(row: TrajectoryRow, position: number): void {
  row.lastPosition = position;
  if (row.expectedTurns === null) return;
  if (row.contiguousTurns < row.expectedTurns) {
    row.state = 'incomplete';
  } else {
    row.state = 'finished';
    row.endPosition ??= position;
  }
}

/** How many turns there are at least, by the highest one that came. */
function turnsSeen({ contiguousTurns, earlyTurns }: TrajectoryRow): number {
  const early = Object.keys(earlyTurns ?? {});
  return early.length === 0 ? contiguousTurns : early.reduce((most, turn) => Math.max(most, Number(turn) + 1), 0);
}

function isFirstEnd(row: TrajectoryRow, position: number): boolean {
  if (row.endedPosition === null) return true;
  noteRepeatedEnd(row, position);
  return false;
}

function noteRepeatedEnd(row: TrajectoryRow, position: number): void {
  const { count, firstPosition } = row.problems?.repeatedEnds ?? { count: 0, firstPosition: position };
  row.problems = { ...row.problems, repeatedEnds: { count: count + 1, firstPosition } };
}

function isInPlace(
  row: TrajectoryRow,
  { group, trainingStep }: Pick<WholeEvent, 'group' | 'trainingStep'>,
  position: number,
): boolean {
  if (group === row.groupName && trainingStep === row.trainingStep) return true;
  const first = row.problems?.otherPlaces ?? { count: 0, firstPosition: position, group, trainingStep };
  row.problems = { ...row.problems, otherPlaces: { ...first, count: first.count + 1 } };
  return false;
}
