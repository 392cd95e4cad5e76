import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { scratchDoubles, scratchInts } from '#lib/numeric';
import { z } from 'zod';
import { binOf } from '../bin-of.js';
import { mean, successOf } from '../groups.js';
import { medianOf } from '../median.js';
import { isWhole, lostFrom, rightToWrong, securedFrom, type PrefixOptions } from '../prefix-curves.js';
import { isAnySaid } from '../said.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { placesOf, visitorsOf } from '../visits.js';

/** Where the outcome of one trajectory was decided. */
export interface PrefixCurve {
  /** [turns] V_{t+1} − V_t */
  readonly progress: readonly number[];
  /** first turn from which on V stays ≤ lost; null: a success, or never */
  readonly pointOfNoReturn: number | null;
  /** first turn from which on V stays ≥ won; null: a failure, or never */
  readonly pointOfSecuredSuccess: number | null;
  readonly worstTurn: number;
  readonly worstDrop: number;
  readonly bestTurn: number;
  readonly bestGain: number;
  /** falls of the estimate from ≥ ½ to below; the outcome is no estimate */
  readonly rightToWrong: number;
  /** turns after the point of secured success */
  readonly saturatedTurns: number | null;
}

/**
 * Where success is decided: V_t is the chance of success before turn t, V_T the outcome.
 *
 *     successByTurnAlive[t]   success rate of the trajectories with more than t turns, aliveByTurn[t] of them
 *
 * Source: progress = MRT (arXiv:2503.07572); the points are ours.
 *
 * @param before [turns] V before each turn; NaN: not known, its trajectory has no curve
 */
export function prefixSuccess(trajectories: TrajectoryBatch, before: NumericValues, options: PrefixOptions) {
  const { ids, turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const lengths = ids.map((_, i) => turnOffsets[i + 1] - turnOffsets[i]);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const alive = Array.from({ length: longest }, (_, t) => lengths.flatMap((length, i) => (length > t && !Number.isNaN(success[i]) ? [success[i]] : []))); // prettier-ignore
  const fromStart = (turn: number, i: number) => (turn < turnOffsets[i + 1] ? turn - turnOffsets[i] : null);
  return {
    aliveByTurn: alive.map(({ length }) => length),
    successByTurnAlive: alive.map((outcomes) => mean(outcomes)),
    perTrajectory: ids.map((_, i): PrefixCurve | null => {
      const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
      if (from === to || Number.isNaN(success[i]) || !isWhole(before, from, to)) return null;
      const curve = [...before.subarray(from, to), success[i]];
      const progress = curve.slice(1).map((value, t) => value - curve[t]);
      const [worstDrop, bestGain] = [Math.min(...progress), Math.max(...progress)];
      const secured = success[i] === 1 ? fromStart(securedFrom(before, from, to, options.won), i) : null;
      return {
        progress,
        pointOfNoReturn: success[i] === 1 ? null : fromStart(lostFrom(before, from, to, options.lost), i),
        pointOfSecuredSuccess: secured,
        worstTurn: progress.indexOf(worstDrop),
        worstDrop,
        bestTurn: progress.indexOf(bestGain),
        bestGain,
        rightToWrong: rightToWrong(before, from, to),
        saturatedTurns: secured === null ? null : lengths[i] - secured - 1,
      };
    }),
  };
}

/** Other trajectories through a state that an anchored estimate needs. */
const LEAST_VISITS = 3;

/**
 * [turns] the chance of success before each turn: what was said after the turn before it (`successEstimate`), and where
 * nothing is said, the mean outcome of at least three other trajectories of the group through the same state.
 * Before the first turn: the others of the group. NaN: not known.
 *
 * @param before [turns] where it is written
 */
export function successBefore(
  trajectories: TrajectoryBatch,
  before: Float64Array = new Float64Array(trajectories.stateKey.length),
): { before: Float64Array; source: 'logged' | 'anchored' } {
  const said = numbers(trajectories, 'turn.successEstimate');
  const isLogged = said !== null && isAnySaid(said);
  if (isLogged) before.set(said.subarray(0, -1), 1);
  else successOfVisitors(trajectories, before);
  successOfOthers(trajectories, before);
  return { before, source: isLogged ? 'logged' : 'anchored' };
}

/** Writes how the other visitors of each turn's state did. */
function successOfVisitors(trajectories: TrajectoryBatch, before: Float64Array): void {
  const { turnOffsets, ids } = trajectories;
  const success = successOf(trajectories);
  const { placeOf } = placesOf(trajectories);
  const { judged, solved } = visitorsOf(trajectories);
  for (let i = 0; i < ids.length; i++) {
    // itself is none of the others
    const one = Number.isNaN(success[i]) ? 0 : 1;
    const its = one === 1 ? success[i] : 0;
    const to = turnOffsets[i + 1];
    for (let turn = turnOffsets[i]; turn < to; turn++) {
      const place = placeOf[turn];
      const others = place >= 0 ? judged[place] - one : 0;
      // `… : NaN` in one expression would be boxed at each turn
      if (others >= LEAST_VISITS) before[turn] = (solved[place] - its) / others;
      else before[turn] = NaN;
    }
  }
}

const judgedIn = scratchInts();
const solvedIn = scratchDoubles();

/** Writes before each first turn how the others of the group did. */
function successOfOthers(trajectories: TrajectoryBatch, before: Float64Array): void {
  const { turnOffsets, groupOf, ids, groupCount } = trajectories;
  const success = successOf(trajectories);
  const judged = judgedIn(groupCount).fill(0);
  const solved = solvedIn(groupCount).fill(0);
  for (let i = 0; i < ids.length; i++) {
    if (Number.isNaN(success[i])) continue;
    judged[groupOf[i]]++;
    solved[groupOf[i]] += success[i];
  }
  for (let i = 0; i < ids.length; i++) {
    const first = turnOffsets[i];
    if (first === turnOffsets[i + 1]) continue;
    const others = judged[groupOf[i]] - 1;
    // what is not said of itself (NaN) makes the share NaN
    if (others > 0) before[first] = (solved[groupOf[i]] - success[i]) / others;
    else before[first] = NaN;
  }
}

const BINS = 10;

/** Expected calibration error of the estimates against the outcome, ten bins; NaN: nothing to compare. */
function calibrationError(trajectories: TrajectoryBatch, before: Float64Array): number | null {
  const { ids, turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const bins = new Float64Array(BINS);
  let n = 0;
  for (let i = 0; i < ids.length; i++) {
    const outcome = success[i];
    if (Number.isNaN(outcome)) continue;
    const end = turnOffsets[i + 1];
    for (let turn = turnOffsets[i]; turn < end; turn++) {
      const estimate = before[turn];
      if (Number.isNaN(estimate)) continue;
      bins[binOf(estimate, BINS)] += estimate - outcome;
      n++;
    }
  }
  let off = 0;
  for (let bin = 0; bin < BINS; bin++) off += Math.abs(bins[bin]);
  return n > 0 ? off / n : null;
}

const EVIDENCE_PER_STEP = 3;

/** Where a trajectory's chance of success falls most. */
interface Fall {
  readonly row: number;
  readonly turn: number;
  readonly by: number;
}

/** The steepest falls, one of a trajectory, the steepest first; of equal ones the earlier. */
function steepestFalls(trajectories: TrajectoryBatch, before: Float64Array, isKnown: Int32Array): Fall[] {
  const { ids, turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const falls: Fall[] = [];
  let least = 0; // no other is looked at
  for (let i = 0; i < ids.length; i++) {
    if (isKnown[i] === 0) continue;
    const last = turnOffsets[i + 1] - 1;
    let by = least;
    let at = -1;
    for (let turn = turnOffsets[i]; turn <= last; turn++) {
      const fall = before[turn] - (turn === last ? success[i] : before[turn + 1]);
      if (fall > by) {
        by = fall;
        at = turn;
      }
    }
    if (at < 0) continue;
    insertFall(falls, { row: i, turn: at - turnOffsets[i], by });
    if (falls.length === EVIDENCE_PER_STEP) least = falls[EVIDENCE_PER_STEP - 1].by;
  }
  return falls;
}

function insertFall(falls: Fall[], fall: Fall): void {
  let at = falls.length;
  while (at > 0 && fall.by > falls[at - 1].by) at--;
  falls.splice(at, 0, fall);
  if (falls.length > EVIDENCE_PER_STEP) falls.pop();
}

const beforeTurns = scratchDoubles();
const knownRows = scratchInts();
const placesLost = scratchDoubles();

/** Estimates that are off by more say nothing of a single turn. */
const CALIBRATED = 0.1;

export const prefixSuccessDiagnostic = stepwise({
  id: 'prefix-success',
  version: 1,
  title: 'Where success is decided',
  question: 'From which turn on is a rollout lost or won?',
  remedy:
    'Decided early: restart from later states (PrefixRL) or shorten the horizon. Undone late: reward what was right, and stop.',
  headline: 'medianNoReturn',
  level: 'trajectory',
  status: 'own',
  source: 'progress: MRT, arXiv:2503.07572; right to wrong: SPAE; the points ours',
  requires: ['trajectory.outcomeReward'],
  accepts: ['turn.successEstimate', 'turn.state', 'trajectory.success'],
  metrics: [],
  needs: 'turn.successEstimate, or trajectories whose states others of their group saw too',
  params: z.strictObject({
    lost: z.number().min(0).max(1).default(0.1).describe('chance of success up to which a rollout is lost'),
    won: z.number().min(0).max(1).default(0.9).describe('chance from which on it is won'),
  }),
  thresholds: z.strictObject({
    early: z.number().min(0).max(1).default(0.25).describe('median place of no return: earlier is worth a note'),
    undone: z.number().min(0).max(1).default(0.1).describe('share of failures that were right once: a warning'),
  }),

  measure({ trajectories }, options) {
    const { before, source } = successBefore(trajectories, beforeTurns(trajectories.stateKey.length));
    const { ids, groups, groupOf, turnOffsets } = trajectories;
    const success = successOf(trajectories);
    const isKnown = knownRows(ids.length).fill(0);
    const places = placesLost(ids.length);
    let known = 0;
    let secured = 0;
    let saturated = 0;
    let failures = 0;
    let lostFromStart = 0;
    let wereRight = 0;
    let lost = 0;
    for (let i = 0; i < ids.length; i++) {
      const from = turnOffsets[i];
      const to = turnOffsets[i + 1];
      if (from === to || Number.isNaN(success[i]) || !isWhole(before, from, to)) continue;
      isKnown[i] = 1;
      known++;
      if (success[i] === 1) {
        const since = securedFrom(before, from, to, options.won);
        if (since === to) continue;
        secured++;
        saturated += (to - since - 1) / (to - from);
        continue;
      }
      failures++;
      if (rightToWrong(before, from, to) > 0) wereRight++;
      const since = lostFrom(before, from, to, options.lost);
      if (!(before[from] > options.lost)) lostFromStart++;
      else if (since < to) places[lost++] = (since - from) / (to - from);
    }
    if (known === 0) return null;
    const median = lost === 0 ? null : medianOf(places, 0, lost);
    const ece = calibrationError(trajectories, before);
    const isTrusted = ece !== null && ece < CALIBRATED;
    return {
      values: {
        medianNoReturn: isTrusted ? median : null,
        lostFromStartShare: failures > 0 ? lostFromStart / failures : null,
        rightToWrongShare: failures > 0 ? wereRight / failures : null,
        saturatedShare: secured > 0 ? saturated / secured : null,
        calibrationError: ece,
        logged: Number(source === 'logged'),
        curves: known,
      },
      reasons: {
        medianNoReturn: isTrusted
          ? 'no failure was lost between its start and its end'
          : 'the estimates are off by 0.1 or more',
        lostFromStartShare: 'nothing failed',
        rightToWrongShare: 'nothing failed',
        saturatedShare: 'no success was secured before its end',
      },
      observations: known,
      evidence: steepestFalls(trajectories, before, isKnown).map(({ row, turn, by }) => ({
        group: groups[groupOf[row]],
        trajectory: ids[row],
        turn,
        note: `the chance of success falls by ${figure(by)}`,
        weight: by,
      })),
    };
  },

  sentence({ medianNoReturn, rightToWrongShare, lostFromStartShare, logged }) {
    const source = logged === 1 ? 'by the logged estimates' : 'by what others reached from the same states';
    const undone =
      rightToWrongShare === null ? '' : `; ${percent(rightToWrongShare)} of the failures were on the right way once`;
    const start = lostFromStartShare === null ? '' : `; ${percent(lostFromStartShare)} had no chance from the start`;
    if (medianNoReturn === null) return `no place of no return can be named ${source}${start}${undone}`;
    return `half of the failures that were open are lost after ${percent(medianNoReturn)} of their turns, ${source}${start}${undone}`;
  },

  rules: ({ early, undone }) => [
    {
      id: 'undone',
      level: 'warn',
      all: [{ value: 'rightToWrongShare', op: '>', limit: undone }],
      minimum: 32,
      says: `more than ${percent(undone)} of the failures were on the right way and left it`,
    },
    {
      id: 'decided-early',
      level: 'info',
      all: [{ value: 'medianNoReturn', op: '<', limit: early }],
      minimum: 32,
      says: `half of the failures that were open are lost in the first ${percent(early)} of their turns`,
    },
  ],
});
