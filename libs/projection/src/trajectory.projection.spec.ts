import type { RunEvent } from '#lib/protocol';
import { describe, expect, it } from 'vitest';
import { anEvent, logged } from './events.builder.js';
import { projectEvents } from './project-events.js';
import { settleProblems, type TrajectoryRow } from './trajectory.projection.js';
import { WorkingSet } from './working-set.js';

const NEVER_FULL = { turns: Infinity, bytes: Infinity };

/** Trajectory t after the events, whose positions count from 0. */
function after(...events: RunEvent[]): TrajectoryRow {
  const set = new WorkingSet();
  for (let next = 0; next < events.length;) next = projectEvents(set, logged(events), next, NEVER_FULL).next;
  const row = set.trajectories.change('t')!;
  settleProblems(row);
  return row;
}

const turn = (index: number, more = {}) => anEvent.turn('t', index, more);
const end = (more = {}) => anEvent.end('t', more);

describe('a trajectory', () => {
  it('is live until it ends, and knows where its turns lie', () => {
    const live = after(turn(0), anEvent.turn('other', 0), turn(1));
    expect(live).toMatchObject({ state: 'live', turnCount: 2, turnPositions: [0, 2], endPosition: null });
    const finished = after(turn(0), turn(1), end({ outcomeReward: 0.5, success: 1, signals: { a: 1 } }));
    expect(finished).toMatchObject({ state: 'finished', turnCount: 2, endPosition: 2, endedPosition: 2 });
    expect(finished).toMatchObject({ outcomeReward: 0.5, success: true, signals: { a: 1 }, problems: null });
  });

  it('may end without a turn', () => {
    expect(after(end())).toMatchObject({ state: 'finished', turnCount: 0, endPosition: 0, outcomeReward: null });
  });

  it('is put in order when turns overtake each other', () => {
    const row = after(turn(2), turn(1), turn(4), turn(0), turn(3), end());
    expect(row).toMatchObject({ state: 'finished', turnPositions: [3, 1, 0, 4, 2], earlyTurns: null, problems: null });
  });

  it('is incomplete while turns are missing, and says which', () => {
    const hole = after(turn(0), turn(2), turn(5), end());
    expect(hole).toMatchObject({ state: 'incomplete', turnCount: 3, contiguousTurns: 1, endPosition: null });
    expect(hole.problems).toEqual({ missingTurns: { count: 3, turns: [1, 3, 4] } });
    const tail = after(turn(0), end({ turnCount: 3 }));
    expect(tail).toMatchObject({ state: 'incomplete', problems: { missingTurns: { count: 2, turns: [1, 2] } } });
  });

  it('names a hundred missing turns and counts the others', () => {
    const { problems } = after(turn(0), end({ turnCount: 1_000_000 }));
    expect(problems?.missingTurns?.count).toBe(999_999);
    expect(problems?.missingTurns?.turns).toHaveLength(100);
  });

  it('is finished at the position where the last missing turn arrives', () => {
    const row = after(turn(0), turn(2), end(), anEvent.turn('other', 0), turn(1));
    expect(row).toMatchObject({ state: 'finished', endPosition: 4, endedPosition: 2, turnPositions: [0, 4, 1] });
    expect(row.problems).toBeNull();
  });

  it('keeps the first word: repeated turns and ends are noted and left out', () => {
    const row = after(
      turn(0),
      turn(0, { state: 'another' }),
      turn(2),
      turn(2),
      turn(1),
      end({ outcomeReward: 1 }),
      end({ outcomeReward: 0 }),
      anEvent.whole('t', 1),
    );
    expect(row).toMatchObject({ state: 'finished', turnPositions: [0, 4, 2], outcomeReward: 1 });
    expect(row.problems).toEqual({
      repeatedTurns: { count: 2, turns: [0, 2] },
      repeatedEnds: { count: 2, firstPosition: 6 },
    });
  });

  it('takes no turns after its end', () => {
    const row = after(turn(0), end(), turn(1), turn(2));
    expect(row).toMatchObject({ state: 'finished', turnCount: 1, endPosition: 1 });
    expect(row.problems).toEqual({ turnsAfterEnd: { count: 2, turns: [1, 2] } });
  });

  it('keeps all turns where its end speaks of fewer', () => {
    const row = after(turn(0), turn(1), end({ turnCount: 1 }));
    expect(row).toMatchObject({ state: 'finished', turnCount: 2, problems: { saidTurnCount: 1 } });
  });

  it('is recorded whole by one event', () => {
    const row = after(anEvent.whole('t', 3, { outcomeReward: 2, parent: { trajectory: 'p', turn: 1 } }));
    expect(row).toMatchObject({ state: 'finished', turnCount: 3, recordedPosition: 0, endPosition: 0 });
    expect(row).toMatchObject({ turnPositions: [], parent: { trajectory: 'p', turn: 1 }, outcomeReward: 2 });
  });

  it('stands as it was first recorded, whatever another producer says', () => {
    const row = after(anEvent.whole('t', 2, { outcomeReward: 1 }), anEvent.whole('t', 3), turn(1), turn(2));
    expect(row).toMatchObject({ turnCount: 2, outcomeReward: 1, recordedPosition: 0 });
    expect(row.problems).toEqual({
      repeatedEnds: { count: 1, firstPosition: 1 },
      repeatedTurns: { count: 1, turns: [1] },
      turnsAfterEnd: { count: 1, turns: [2] },
    });
  });

  it('that came turn by turn is not ended by a record of the whole', () => {
    const row = after(turn(0), anEvent.whole('t', 1));
    expect(row).toMatchObject({ state: 'live', problems: { repeatedEnds: { count: 1, firstPosition: 1 } } });
  });

  it('stays in its group and training step; what names another is left out', () => {
    const row = after(
      turn(0),
      turn(1, { group: 'h' }),
      turn(1, { trainingStep: 7 }),
      turn(1),
      end({ group: 'h' }),
      end(),
    );
    expect(row).toMatchObject({ state: 'finished', turnPositions: [0, 3], groupName: 'g', trainingStep: 0 });
    expect(row.problems).toEqual({ otherPlaces: { count: 3, firstPosition: 1, group: 'h', trainingStep: 0 } });
  });
});
