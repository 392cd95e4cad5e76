import type { TrajectoryRecord } from '#lib/protocol';

const AT = '2026-01-01T00:00:00.000Z';

/** The same trajectories as a trainer streams them: an event per turn, and one for each end. */
export function turnEvents(records: readonly TrajectoryRecord[]): object[] {
  return records.flatMap(({ id, group, trainingStep, turns, ...end }) => {
    const place = { at: AT, trajectory: id, group, trainingStep };
    return [
      ...turns.map((turn, index) => ({ type: 'turn.recorded', ...place, turn: index, ...turn })),
      { type: 'trajectory.ended', ...place, ...end, turnCount: turns.length },
    ];
  });
}
