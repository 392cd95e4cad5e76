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

/** Where the turns of these trajectories lie. */
export function positionsOf(trajectories: readonly FinishedTrajectory[]): number[] {
  return trajectories.flatMap(({ recordedPosition, turnPositions }) =>
    recordedPosition === null ? turnPositions : [recordedPosition],
  );
}

/**
 * Whole trajectories, as an import file would hold them: their turns are read from the log.
 *
 * @param known events that need not be read
 */
export async function recordsOf(
  db: Queryable,
  runId: string,
  trajectories: readonly FinishedTrajectory[],
  known: ReadonlyMap<number, RunEvent> = new Map(),
): Promise<TrajectoryRecord[]> {
  const unknown = positionsOf(trajectories).filter((position) => !known.has(position));
  const read = await readEventsAt(db, runId, unknown);
  return trajectories.map((trajectory) =>
    recordOf(trajectory, (position) => known.get(position) ?? read.get(position)),
  );
}

type EventAt = (position: number) => RunEvent | undefined;

function recordOf(trajectory: FinishedTrajectory, eventAt: EventAt): TrajectoryRecord {
  const { id, groupName: group, trainingStep, parent, outcomeReward, success, signals } = trajectory;
  return {
    id,
    group,
    trainingStep,
    ...(parent && { parent }),
    ...(outcomeReward !== null && { outcomeReward }),
    ...(success !== null && { success }),
    ...(signals && { signals }),
    turns: turnsOf(trajectory, eventAt),
  };
}

function turnsOf({ recordedPosition, turnPositions }: FinishedTrajectory, eventAt: EventAt): Turn[] {
  if (recordedPosition !== null)
    return expected(eventAt(recordedPosition), recordedPosition, 'trajectory.recorded').turns;
  return turnPositions.map((position) => {
    const { state, action, reward, signals, tokens } = expected(eventAt(position), position, 'turn.recorded');
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
function expected<Type extends RunEvent['type']>(event: RunEvent | undefined, position: number, type: Type) {
  if (event?.type === type) return event as Extract<RunEvent, { type: Type }>;
  throw new RecreditError(
    'chain.broken',
    `expected ${type} at position ${position}, found ${event?.type ?? 'nothing'}`,
  );
}
