import type { TrajectoryBatch } from '#lib/dataset';
import { ownerOf, repeatedPairLabels, scratchInts } from '#lib/numeric';
import { successOf } from './groups.js';
import { oncePerBatch } from './once-per-batch.js';

/** Lists of turns, as ragged rows: those of list l are `turns[offsets[l] .. offsets[l + 1] - 1]`, ascending. */
export interface TurnLists {
  readonly offsets: Int32Array;
  readonly turns: Int32Array;
}

/** [turns] row of the trajectory */
export const trajectoryOfTurns = oncePerBatch(({ turnOffsets }: TrajectoryBatch): Int32Array => ownerOf(turnOffsets));

/** The places of a step: a state as a group saw it, whichever of its trajectories did. */
export interface Places {
  /** [turns] from 0 in the order in which they were first seen; -1: no state was said */
  readonly placeOf: Int32Array;
  readonly count: number;
}

export const placesOf = oncePerBatch(({ groupOf, turnOffsets, stateKey }: TrajectoryBatch): Places => {
  const { labels, count } = repeatedPairLabels(groupOf, turnOffsets, stateKey);
  return { placeOf: labels, count };
});

/** The places where two turns or more began: most are seen once, and nothing can be compared there. */
export interface SharedPlaces extends TurnLists {
  /** [turns] 1: its place is one of them */
  readonly isShared: Uint8Array;
}

const nextOf = scratchInts();
const startsOf = scratchInts();

/** [shared places] the turns that began there, in the order of the places. */
export const sharedPlaces = oncePerBatch((trajectories: TrajectoryBatch): SharedPlaces => {
  const { placeOf, count } = placesOf(trajectories);
  // [places] the turns that began there, then where the next of them goes; -1: it is alone
  const next = nextOf(count).fill(0);
  for (let turn = 0; turn < placeOf.length; turn++) if (placeOf[turn] >= 0) next[placeOf[turn]]++;
  const starts = startsOf((placeOf.length >> 1) + 1);
  let shared = 0;
  let listed = 0;
  for (let place = 0; place < count; place++) {
    const size = next[place];
    if (size < 2) {
      next[place] = -1;
      continue;
    }
    starts[shared++] = next[place] = listed;
    listed += size;
  }
  starts[shared] = listed;
  const turns = new Int32Array(listed);
  const isShared = new Uint8Array(placeOf.length);
  for (let turn = 0; turn < placeOf.length; turn++) {
    const place = placeOf[turn];
    if (place < 0 || next[place] < 0) continue;
    turns[next[place]++] = turn;
    isShared[turn] = 1;
  }
  return { offsets: starts.slice(0, shared + 1), turns, isShared };
});

/**
 * @param labels [turns] 0 .. count - 1; -1: in no list
 */
export function turnsByLabel(labels: Int32Array, count: number): TurnLists {
  const offsets = new Int32Array(count + 1);
  for (let turn = 0; turn < labels.length; turn++) if (labels[turn] >= 0) offsets[labels[turn]]++;
  // where each list ends; filled from behind, that is in the end where it begins
  for (let label = 1; label <= count; label++) offsets[label] += offsets[label - 1];
  const turns = new Int32Array(offsets[count]);
  for (let turn = labels.length - 1; turn >= 0; turn--) if (labels[turn] >= 0) turns[--offsets[labels[turn]]] = turn;
  return { offsets, turns };
}

/** How many trajectories came to each place, however often. [places] each */
export interface Visitors {
  readonly all: Int32Array;
  /** those of which success is said, and those that succeeded */
  readonly judged: Int32Array;
  readonly solved: Int32Array;
}

const lastVisitorOf = scratchInts();

export const visitorsOf = oncePerBatch((trajectories: TrajectoryBatch): Visitors => {
  const { ids, turnOffsets } = trajectories;
  const { placeOf, count } = placesOf(trajectories);
  const success = successOf(trajectories);
  const all = new Int32Array(count);
  // where all say it, as most do, one count is the other
  const judged = isSaidOfAll(success) ? all : new Int32Array(count);
  const solved = new Int32Array(count);
  const lastVisitor = lastVisitorOf(count).fill(-1);
  for (let row = 0; row < ids.length; row++) {
    const end = turnOffsets[row + 1];
    const outcome = success[row];
    const isJudged = !Number.isNaN(outcome);
    for (let turn = turnOffsets[row]; turn < end; turn++) {
      const place = placeOf[turn];
      if (place < 0 || lastVisitor[place] === row) continue;
      lastVisitor[place] = row;
      all[place]++;
      if (!isJudged) continue;
      if (judged !== all) judged[place]++;
      solved[place] += outcome;
    }
  }
  return { all, judged, solved };
});

function isSaidOfAll(success: Float64Array): boolean {
  for (let row = 0; row < success.length; row++) if (Number.isNaN(success[row])) return false;
  return true;
}
