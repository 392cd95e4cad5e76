import { sharedTurns } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { groupRows, successOf } from './groups.js';
import { placesOf, trajectoryOfTurns } from './visits.js';

/** Places that rollouts went through, and how they ended, in memory that is lent until the next step. [places] each */
export interface RestartPlaces {
  readonly count: number;
  /** the trajectory whose first turns lead there, and how many of them */
  readonly row: Int32Array;
  readonly prefixTurns: Int32Array;
  /** 0: nothing is to be learned there */
  readonly continuations: Int32Array;
  readonly successes: Int32Array;
}

/** Nodes of the tree where rollouts name their parents, else the equal states of a group. */
export function restartPlaces(trajectories: TrajectoryBatch): RestartPlaces {
  return namesParents(trajectories.parentOf) ? placesOfTree(trajectories) : placesOfStates(trajectories);
}

function namesParents(parentOf: Int32Array): boolean {
  for (let row = 0; row < parentOf.length; row++) if (parentOf[row] >= 0) return true;
  return false;
}

const rowsIn = scratchInts();
const prefixTurnsIn = scratchInts();
const continuationsIn = scratchInts();
const successesIn = scratchInts();

/** Memory for so many places. */
const placesIn = (count: number) => ({
  row: rowsIn(count),
  prefixTurns: prefixTurnsIn(count),
  continuations: continuationsIn(count),
  successes: successesIn(count),
});

const visitedIn = scratchInts();
const nextIn = scratchInts();
const orderIn = scratchInts();
const endedIn = scratchInts();
const solvedIn = scratchInts();

/** Turns that another one followed, in the order in which they were first taken. */
function placesOfTree(trajectories: TrajectoryBatch): RestartPlaces {
  const { turnOffsets, ids } = trajectories;
  const { madeBy, shared } = sharedTurns(trajectories);
  const success = successOf(trajectories);
  const owner = trajectoryOfTurns(trajectories);
  const count = madeBy.length - turnOffsets[0] - shared;
  const { row, prefixTurns, continuations, successes } = placesIn(count);
  // [turns] of those that make others, their place; -1: none yet
  const placeOf = visitedIn(madeBy.length).fill(-1);
  const hasNext = nextIn(count);
  let next = 0;
  for (let i = 0; i < ids.length; i++) {
    const first = turnOffsets[i];
    const last = turnOffsets[i + 1] - 1;
    const isSaid = Number.isNaN(success[i]) ? 0 : 1;
    const isSolved = success[i] > 0 ? 1 : 0;
    for (let turn = first; turn <= last; turn++) {
      const maker = madeBy[turn];
      const place = placeOf[maker];
      if (place < 0) {
        placeOf[maker] = next;
        row[next] = maker === turn ? i : owner[maker];
        prefixTurns[next] = turn - first + 1;
        hasNext[next] = turn < last ? 1 : 0;
        continuations[next] = isSaid;
        successes[next++] = isSolved;
        continue;
      }
      if (turn < last) hasNext[place] = 1;
      continuations[place] += isSaid;
      successes[place] += isSolved;
    }
  }
  for (let place = 0; place < count; place++) if (hasNext[place] === 0) continuations[place] = 0;
  return { count, row, prefixTurns, continuations, successes };
}

const seenByIn = scratchInts();
const turnsBeforeIn = scratchInts();

/** The states that two rollouts of a group saw, after their first turn: group after group, each as it was first seen. */
function placesOfStates(trajectories: TrajectoryBatch): RestartPlaces {
  const { turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const { placeOf, count: visited } = placesOf(trajectories);
  const seenBy = seenByIn(visited);
  const turnsBefore = turnsBeforeIn(visited);
  const ended = endedIn(visited).fill(0);
  const solved = solvedIn(visited).fill(0);
  const order = orderIn(visited);
  const lastVisitor = visitedIn(visited).fill(-1);
  let next = 0;
  for (const { rows } of groupRows(trajectories)) {
    for (const row of rows) {
      const outcome = success[row];
      if (Number.isNaN(outcome)) continue;
      const first = turnOffsets[row];
      const end = turnOffsets[row + 1];
      for (let turn = first + 1; turn < end; turn++) {
        const place = placeOf[turn];
        if (place < 0 || place === placeOf[first]) continue;
        if (lastVisitor[place] < 0) order[next++] = place;
        if (lastVisitor[place] < 0 || turn - first < turnsBefore[place]) {
          seenBy[place] = row;
          turnsBefore[place] = turn - first;
        }
        if (lastVisitor[place] === row) continue; // it was here before
        lastVisitor[place] = row;
        ended[place]++;
        solved[place] += outcome;
      }
    }
  }
  const places = placesIn(next);
  let count = 0;
  for (let k = 0; k < next; k++) {
    const place = order[k];
    if (ended[place] < 2) continue;
    places.row[count] = seenBy[place];
    places.prefixTurns[count] = turnsBefore[place];
    places.continuations[count] = ended[place];
    places.successes[count++] = solved[place];
  }
  return { count, ...places };
}
