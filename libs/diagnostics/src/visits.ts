import type { TrajectoryBatch } from '#lib/dataset';
import { ownerOf, repeatedPairLabels } from '#lib/numeric';
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

/** [places] the turns that began there. */
export const turnsOfPlaces = oncePerBatch((trajectories: TrajectoryBatch): TurnLists => {
  const { placeOf, count } = placesOf(trajectories);
  return turnsByLabel(placeOf, count);
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

export const visitorsOf = oncePerBatch((trajectories: TrajectoryBatch): Visitors => {
  const { ids, turnOffsets } = trajectories;
  const { placeOf, count } = placesOf(trajectories);
  const success = successOf(trajectories);
  const [all, judged, solved] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const lastVisitor = new Int32Array(count).fill(-1);
  for (let row = 0; row < ids.length; row++) {
    for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
      const place = placeOf[turn];
      if (place < 0 || lastVisitor[place] === row) continue;
      lastVisitor[place] = row;
      all[place]++;
      if (Number.isNaN(success[row])) continue;
      judged[place]++;
      solved[place] += success[row];
    }
  }
  return { all, judged, solved };
});
