import { hashesOf, numbers, type TextHashes, type TrajectoryBatch } from '#lib/dataset';
import { hash32, scratchDoubles, scratchInts } from '#lib/numeric';
import { mixed } from './mixed-hash.js';
import { sharedPlaces, trajectoryOfTurns } from './visits.js';

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
  const hashes: VisitHashes = { ...hashesOf(texts), tasks: hashesOfTasks(groups) };
  const steps: StepCoverage[] = [];
  for (const step of stepsIn(trainingStep)) {
    let judged = 0;
    let sum = 0;
    for (let row = 0; row < trainingStep.length; row++) {
      if (trainingStep[row] !== step || Number.isNaN(outcome[row])) continue;
      judged++;
      sum += outcome[row];
    }
    steps.push({
      trainingStep: step,
      trajectories: judged,
      meanReturn: judged > 0 ? sum / judged : NaN,
      ...visitsOf(trajectories, step, hashes, most),
    });
  }
  return steps;
}

/** The training steps, ascending. */
function stepsIn(trainingStep: Int32Array): number[] {
  const steps = new Set<number>();
  for (let row = 0; row < trainingStep.length; row++) {
    if (row === 0 || trainingStep[row] !== trainingStep[row - 1]) steps.add(trainingStep[row]);
  }
  return [...steps].sort((a, b) => a - b);
}

interface VisitHashes extends TextHashes {
  /** [groups] */
  readonly tasks: Int32Array;
}

const tasksOf = scratchInts();

function hashesOfTasks(groups: readonly string[]): Int32Array {
  const hashes = tasksOf(groups.length);
  for (let group = 0; group < groups.length; group++) hashes[group] = hash32(groups[group]);
  return hashes;
}

const hashesIn = scratchInts();
const madeIn = scratchInts();
const visitsBy = scratchInts();

/** What the turns of a training step visit: each action once at each place. Where one turn began, that is all it takes. */
function visitsOf(trajectories: TrajectoryBatch, step: number, { tasks, states, actions }: VisitHashes, most: number) {
  const { groupOf, trainingStep, turnOffsets, stateKey, actionKey } = trajectories;
  const { offsets, turns: sharing, isShared } = sharedPlaces(trajectories);
  const hashes = hashesIn(stateKey.length);
  const made = madeIn(stateKey.length);
  let unique = 0;
  for (let row = 0; row < groupOf.length; row++) {
    if (trainingStep[row] !== step) continue;
    const task = tasks[groupOf[row]];
    const end = turnOffsets[row + 1];
    for (let turn = turnOffsets[row]; turn < end; turn++) {
      const state = stateKey[turn];
      const action = actionKey[turn];
      if (state < 0 || action < 0 || isShared[turn] === 1) continue;
      hashes[unique] = mixed(mixed(task, states[2 * state]), actions[2 * action]);
      made[unique++] = 1;
    }
  }
  let turns = unique;
  let uniqueStates = unique;
  const owner = trajectoryOfTurns(trajectories);
  // by action, the last visit that took it
  const visitOf = visitsBy(actions.length / 2).fill(-1);
  for (let place = 0; place + 1 < offsets.length; place++) {
    const first = unique;
    const end = offsets[place + 1];
    let ofPlace = 0;
    for (let k = offsets[place]; k < end; k++) {
      const turn = sharing[k];
      const action = actionKey[turn];
      const row = owner[turn];
      if (action < 0 || trainingStep[row] !== step) continue;
      turns++;
      if (unique === first) {
        ofPlace = mixed(tasks[groupOf[row]], states[2 * stateKey[turn]]);
        uniqueStates++;
      }
      if (visitOf[action] < first) {
        visitOf[action] = unique;
        hashes[unique] = mixed(ofPlace, actions[2 * action]);
        made[unique++] = 0;
      }
      made[visitOf[action]]++;
    }
  }
  return { turns, uniqueStates, uniqueStateActions: unique, ...leastOf(hashes, unique, made, most) };
}

/** Bits of a hash by which visits are put into parts: about as many as are kept are sorted, and each part by itself. */
const PART_BITS = 10;

const partsOf = scratchInts();
const leastIn = scratchDoubles();

/**
 * The visits of least hash, ascending, and the hash that they are below.
 *
 * @param hashes, made [visits] and perhaps more
 */
function leastOf(
  hashes: Int32Array,
  visits: number,
  made: Int32Array,
  most: number,
): Pick<StepCoverage, 'below' | 'hashes' | 'made'> {
  const shift = 32 - PART_BITS;
  // where each part begins: the next one's place until it is summed up
  const starts = partsOf(2 ** PART_BITS + 1).fill(0);
  for (let visit = 0; visit < visits; visit++) starts[(hashes[visit] >>> shift) + 1]++;
  let parts = 0;
  for (; parts < 2 ** PART_BITS && starts[parts] <= most; parts++) starts[parts + 1] += starts[parts];
  const count = starts[parts];
  // the hash above, how many turns below: one number each, which sorts by the hash
  const least = leastIn(count);
  for (let visit = 0; visit < visits; visit++) {
    const part = hashes[visit] >>> shift;
    if (part >= parts) continue;
    least[starts[part]++] = (hashes[visit] >>> 0) * COUNTS + Math.min(made[visit], COUNTS - 1);
  }
  sortAlmostSorted(least);
  const kept = Math.min(most, count);
  const found = { hashes: new Uint32Array(kept), made: new Int32Array(kept) };
  for (let k = 0; k < kept; k++) {
    const hash = Math.floor(least[k] / COUNTS);
    found.hashes[k] = hash;
    found.made[k] = least[k] - hash * COUNTS;
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
