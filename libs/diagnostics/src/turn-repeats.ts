import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { oncePerBatch } from './once-per-batch.js';

/** What the turns of each trajectory repeat, as counts of turns. [trajectories] each; 0 where there is no turn */
export interface TurnRepeats {
  /** whose (state, action) was there before */
  readonly stateActions: Int32Array;
  /** whose action was taken on an earlier valid turn */
  readonly actions: Int32Array;
  /** after which the state is the same */
  readonly noOps: Int32Array;
  /** that the environment refused */
  readonly invalid: Int32Array;
  /** different states */
  readonly states: Int32Array;
  /** most turns since a state was new */
  readonly stagnation: Int32Array;
  /** that lie in a cycle */
  readonly inCycle: Int32Array;
  /** that the longest cycle spans, and its period; 0: there is none */
  readonly longestLoop: Int32Array;
  readonly period: Int32Array;
}

const byPeriod = oncePerBatch(() => new Map<number, TurnRepeats>());

/** @param maxPeriod the longest cycle that is looked for, in turns */
export function turnRepeats(trajectories: TrajectoryBatch, maxPeriod: number): TurnRepeats {
  const known = byPeriod(trajectories);
  const found = known.get(maxPeriod) ?? counted(trajectories, maxPeriod);
  known.set(maxPeriod, found);
  return found;
}

const firstsOf = scratchInts();
const slotsOf = scratchInts();
const sawStateOf = scratchInts();
const tookActionOf = scratchInts();
const cyclesOf = scratchInts();

function counted(trajectories: TrajectoryBatch, maxPeriod: number): TurnRepeats {
  const { ids, turnOffsets, stateKey, actionKey } = trajectories;
  const valid = numbers(trajectories, 'turn.isActionValid');
  const error = numbers(trajectories, 'turn.toolError');
  const [stateActions, actions, noOps, invalid, states, stagnation, inCycle, longestLoop, period] = zeroColumns(
    9,
    ids.length,
  );
  const longest = longestOf(turnOffsets);
  const firstOfPair = firstsOf(stateKey.length);
  const slots = slotsOf(2 ** Math.ceil(Math.log2(2 * longest + 2))).fill(-1);
  // by key + 1, the last trajectory (from 1) that saw the state, and that took the action on a valid turn
  const sawState = sawStateOf(greatest(stateKey) + 2).fill(0);
  const tookAction = tookActionOf(greatest(actionKey) + 2).fill(0);
  for (let i = 0; i < ids.length; i++) {
    const from = turnOffsets[i];
    const to = turnOffsets[i + 1];
    let taken = 0;
    let same = 0;
    let refused = 0;
    let seen = 0;
    let standstill = 0;
    let lastNew = from;
    let before = NO_STATE;
    for (let turn = from; turn < to; turn++) {
      const state = stateKey[turn] + 1;
      const action = actionKey[turn] + 1;
      if (tookAction[action] === i + 1) taken++;
      if (isValid(valid, error, turn)) tookAction[action] = i + 1;
      else refused++;
      if (state === before) same++;
      before = state;
      if (sawState[state] !== i + 1) {
        sawState[state] = i + 1;
        seen++;
        lastNew = turn;
      } else if (turn - lastNew > standstill) standstill = turn - lastNew;
    }
    actions[i] = taken;
    noOps[i] = same;
    invalid[i] = refused;
    states[i] = seen;
    stagnation[i] = standstill;
    if (seen === to - from) continue; // no state that comes again, no pair
    findPairs(trajectories, i, firstOfPair, slots);
    for (let turn = from; turn < to; turn++) if (firstOfPair[turn] < turn) stateActions[i]++;
    if (stateActions[i] === 0) continue; // nothing that comes again, no cycle
    const loops = loopsIn(firstOfPair, from, to, maxPeriod);
    inCycle[i] = loops.turns;
    longestLoop[i] = loops.longest;
    period[i] = loops.period;
  }
  return { stateActions, actions, noOps, invalid, states, stagnation, inCycle, longestLoop, period };
}

/**
 * The cycles among turns from .. to - 1: how many turns lie in one, and the longest one with its period.
 *
 * @param firstOfPair [turns] the first turn with the same state and action
 */
function loopsIn(firstOfPair: Int32Array, from: number, to: number, maxPeriod: number) {
  const cycle = cyclesOf(to - from).fill(0);
  let longest = 0;
  let period = 0;
  for (let p = 1; p <= maxPeriod; p++) {
    for (let t = from + p; t < to; t++) {
      let end = t;
      while (end < to && firstOfPair[end] === firstOfPair[end - p]) end++;
      if (end - t >= p) {
        cycle.fill(1, t - p - from, end - from);
        if (end - t + p > longest) {
          longest = end - t + p;
          period = p;
        }
      }
      if (end > t) t = end;
    }
  }
  let turns = 0;
  for (let t = 0; t < to - from; t++) turns += cycle[t];
  return { turns, longest, period };
}

/** Columns that lie side by side: memory is asked for once. */
function zeroColumns(count: number, rows: number): Int32Array[] {
  const all = new Int32Array(count * rows);
  const columns: Int32Array[] = [];
  for (let k = 0; k < count; k++) columns.push(all.subarray(k * rows, (k + 1) * rows));
  return columns;
}

/** What no state has as its key + 1. */
const NO_STATE = -1;

/** The environment took the action: `isActionValid`, else not `toolError`, else all are valid. */
function isValid(valid: NumericValues | null, error: NumericValues | null, turn: number): boolean {
  if (valid !== null && !Number.isNaN(valid[turn])) return valid[turn] !== 0;
  return error === null || Number.isNaN(error[turn]) || error[turn] === 0;
}

/**
 * Finds for each turn of a trajectory the first one with its state and action: itself where they are new.
 *
 * @param first [turns] is written to
 * @param slots a hash table of turns that each trajectory begins anew: those of earlier trajectories are free
 */
function findPairs(
  { turnOffsets, stateKey, actionKey }: TrajectoryBatch,
  i: number,
  first: Int32Array,
  slots: Int32Array,
): void {
  const mask = slots.length - 1;
  const from = turnOffsets[i];
  for (let turn = from; turn < turnOffsets[i + 1]; turn++) {
    let slot = Math.imul(Math.imul(stateKey[turn], 0x9e3779b1) ^ actionKey[turn], 0x85ebca77) >>> 7;
    for (slot &= mask; slots[slot] >= from; slot = (slot + 1) & mask) {
      const other = slots[slot];
      if (stateKey[other] === stateKey[turn] && actionKey[other] === actionKey[turn]) break;
    }
    if (slots[slot] < from) slots[slot] = turn;
    first[turn] = slots[slot];
  }
}

function greatest(keys: Int32Array): number {
  let most = -1;
  for (let k = 0; k < keys.length; k++) if (keys[k] > most) most = keys[k];
  return most;
}

function longestOf(offsets: Int32Array): number {
  let most = 0;
  for (let i = 0; i + 1 < offsets.length; i++) most = Math.max(most, offsets[i + 1] - offsets[i]);
  return most;
}
