import { readEventsAt } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import type { RunEvent, Signals, TrajectoryRecord, Turn } from '#lib/protocol';
import type { Queryable } from '#lib/storage';

/** Where a finished trajectory lies in the log, and what is known of it without its turns. */
export interface FinishedTrajectory {
  readonly id: string;
  readonly firstPosition: number;
  readonly endPosition: number;
  readonly trainingStep: number;
  readonly groupName: string;
  readonly parent: { readonly trajectory: string; readonly turn: number } | null;
  readonly outcomeReward: number | null;
  readonly success: boolean | null;
  readonly signals: Signals | null;
  readonly turnCount: number;
  readonly recordedPosition: number | null;
  /** [turnCount], or empty where one event recorded the whole trajectory */
  readonly turnPositions: readonly number[];
}

/** The select list of a FinishedTrajectory. Positions as JSON: bigint[] would arrive as text. */
export const FINISHED_COLUMNS = `
  id, first_position::float8 as "firstPosition", end_position::float8 as "endPosition",
  training_step as "trainingStep", group_name as "groupName", parent, outcome_reward as "outcomeReward", success, signals,
  turn_count as "turnCount", recorded_position::float8 as "recordedPosition",
  array_to_json(turn_positions) as "turnPositions"`;

/** Whole trajectories, as an import file would hold them: their turns are read from the log. */
export async function recordsOf(
  db: Queryable,
  runId: string,
  trajectories: readonly FinishedTrajectory[],
): Promise<TrajectoryRecord[]> {
  const positions = trajectories.flatMap(({ recordedPosition, turnPositions }) =>
    recordedPosition === null ? turnPositions : [recordedPosition],
  );
  const events = await readEventsAt(db, runId, positions);
  return trajectories.map((trajectory) => recordOf(trajectory, events));
}

function recordOf(trajectory: FinishedTrajectory, events: ReadonlyMap<number, RunEvent>): TrajectoryRecord {
  const { id, groupName: group, trainingStep, parent, outcomeReward, success, signals } = trajectory;
  return {
    id,
    group,
    trainingStep,
    ...(parent && { parent }),
    ...(outcomeReward !== null && { outcomeReward }),
    ...(success !== null && { success }),
    ...(signals && { signals }),
    turns: turnsOf(trajectory, events),
  };
}

function turnsOf(
  { recordedPosition, turnPositions }: FinishedTrajectory,
  events: ReadonlyMap<number, RunEvent>,
): Turn[] {
  if (recordedPosition !== null) return eventAt(events, recordedPosition, 'trajectory.recorded').turns;
  return turnPositions.map((position) => {
    const { state, action, reward, signals, tokens } = eventAt(events, position, 'turn.recorded');
    return {
      ...(state !== undefined && { state }),
      ...(action !== undefined && { action }),
      ...(reward !== undefined && { reward }),
      ...(signals && { signals }),
      ...(tokens && { tokens }),
    };
  });
}

/** @throws RecreditError `chain.broken` where the log does not hold what the projector found there */
function eventAt<Type extends RunEvent['type']>(events: ReadonlyMap<number, RunEvent>, position: number, type: Type) {
  const event = events.get(position);
  if (event?.type === type) return event as Extract<RunEvent, { type: Type }>;
  throw new RecreditError(
    'chain.broken',
    `expected ${type} at position ${position}, found ${event?.type ?? 'nothing'}`,
  );
}
