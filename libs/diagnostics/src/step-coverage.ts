import { hashesOf, numbers, type TextHashes, type TrajectoryBatch } from '#lib/dataset';
import { hash32 } from '#lib/numeric';
import { mixed } from './mixed-hash.js';
import { trajectoryOfTurns, turnsOfPlaces } from './visits.js';

/** What one training step visited. Of many different visits those of smallest hash are kept: the same ones on every step. */
export interface StepCoverage {
  readonly trainingStep: number;
  /** turns with a state and an action */
  readonly turns: number;
  /** different (task, state, action), all of them counted */
  readonly uniqueStateActions: number;
  /** different (task, state) */
  readonly uniqueStates: number;
  readonly trajectories: number;
  readonly meanReturn: number;
  /** visits are kept whose hash is below; 2^32: all are */
  readonly below: number;
  /** [kept] hash of a visit, ascending, and how many turns made it */
  readonly hashes: Uint32Array;
  readonly made: Int32Array;
}

/** How many hashes there are. */
export const HASHES = 2 ** 32;
/** Turns of a visit that are counted, beyond any training step; with a hash they fit into one number. */
const COUNTS = 2 ** 20;

/**
 * Counts what the trajectories visit, by the texts of states and actions, so that steps can be compared.
 *
 * @param most visits that are kept per training step; with fewer all numbers are exact
 * @returns per training step, ascending; null: the texts were not loaded
 */
export function coverageOf(trajectories: TrajectoryBatch, most = Infinity): StepCoverage[] | null {
  const { texts, trainingStep, groups } = trajectories;
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  if (!texts || !outcome) return null;
  const hashes: VisitHashes = { ...hashesOf(texts), tasks: Uint32Array.from(groups, (task) => hash32(task)) };
  const steps = [...new Set(trainingStep)].sort((a, b) => a - b);
  return steps.map((step) => {
    let judged = 0;
    let sum = 0;
    for (let row = 0; row < trainingStep.length; row++) {
      if (trainingStep[row] !== step || Number.isNaN(outcome[row])) continue;
      judged++;
      sum += outcome[row];
    }
    return {
      trainingStep: step,
      trajectories: judged,
      meanReturn: judged > 0 ? sum / judged : NaN,
      ...visitsOf(trajectories, step, hashes, most),
    };
  });
}

interface VisitHashes extends TextHashes {
  /** [groups] */
  readonly tasks: Uint32Array;
}

/** What the turns of a training step visit: place after place, each action once. */
function visitsOf(trajectories: TrajectoryBatch, step: number, { tasks, states, actions }: VisitHashes, most: number) {
  const { groupOf, trainingStep, stateKey, actionKey } = trajectories;
  const owner = trajectoryOfTurns(trajectories);
  const { offsets, turns: turnsOf } = turnsOfPlaces(trajectories);
  const hashes = new Uint32Array(turnsOf.length);
  const made = new Int32Array(turnsOf.length);
  // by action, the last visit that took it
  const visitOf = new Int32Array(actions.length / 2).fill(-1);
  let [turns, uniqueStates, unique] = [0, 0, 0];
  for (let place = 0; place + 1 < offsets.length; place++) {
    const first = unique;
    let ofPlace = 0;
    for (let k = offsets[place]; k < offsets[place + 1]; k++) {
      const turn = turnsOf[k];
      const action = actionKey[turn];
      if (action < 0 || trainingStep[owner[turn]] !== step) continue;
      turns++;
      if (unique === first) {
        ofPlace = mixed(tasks[groupOf[owner[turn]]], states[2 * stateKey[turn]]);
        uniqueStates++;
      }
      if (visitOf[action] < first) {
        visitOf[action] = unique;
        hashes[unique++] = mixed(ofPlace, actions[2 * action]);
      }
      made[visitOf[action]]++;
    }
  }
  return { turns, uniqueStates, uniqueStateActions: unique, ...leastOf(hashes.subarray(0, unique), made, most) };
}

/** Bits of a hash by which visits are put into parts: about as many as are kept are sorted, and each part by itself. */
const PART_BITS = 10;

/** The visits of least hash, ascending, and the hash that they are below. */
function leastOf(hashes: Uint32Array, made: Int32Array, most: number): Pick<StepCoverage, 'below' | 'hashes' | 'made'> {
  const shift = 32 - PART_BITS;
  // where each part begins: the next one's place until it is summed up
  const starts = new Int32Array(2 ** PART_BITS + 1);
  for (let visit = 0; visit < hashes.length; visit++) starts[(hashes[visit] >>> shift) + 1]++;
  let parts = 0;
  for (; parts < 2 ** PART_BITS && starts[parts] <= most; parts++) starts[parts + 1] += starts[parts];
  const count = starts[parts];
  // the hash above, how many turns below: one number each, which sorts by the hash
  const least = new Float64Array(count);
  for (let visit = 0; visit < hashes.length; visit++) {
    const part = hashes[visit] >>> shift;
    if (part < parts) least[starts[part]++] = hashes[visit] * COUNTS + Math.min(made[visit], COUNTS - 1);
  }
  sortAlmostSorted(least);
  const kept = Math.min(most, count);
  const found = { hashes: new Uint32Array(kept), made: new Int32Array(kept) };
  for (let k = 0; k < kept; k++) {
    found.hashes[k] = Math.floor(least[k] / COUNTS);
    found.made[k] = least[k] - found.hashes[k] * COUNTS;
  }
  return { below: count > most ? Math.floor(least[most] / COUNTS) : HASHES, ...found };
}

/** Moves each value before the greater ones: no value has far to go. */
function sortAlmostSorted(values: Float64Array): void {
  for (let k = 1; k < values.length; k++) {
    const value = values[k];
    let at = k;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
}
