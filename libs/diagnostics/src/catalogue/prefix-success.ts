import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { mean, successOf } from '../groups.js';
import { prefixCurves, type PrefixOptions } from '../prefix-curves.js';
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
  const curves = prefixCurves(trajectories, before, options);
  const orNull = (turn: number) => (turn < 0 ? null : turn);
  return {
    aliveByTurn: alive.map(({ length }) => length),
    successByTurnAlive: alive.map((outcomes) => mean(outcomes)),
    perTrajectory: ids.map((_, i): PrefixCurve | null => {
      if (curves.isKnown[i] === 0) return null;
      const curve = [...before.subarray(turnOffsets[i], turnOffsets[i + 1]), success[i]];
      return {
        progress: curve.slice(1).map((value, t) => value - curve[t]),
        pointOfNoReturn: orNull(curves.noReturn[i]),
        pointOfSecuredSuccess: orNull(curves.secured[i]),
        worstTurn: curves.worstTurn[i],
        worstDrop: curves.worstDrop[i],
        bestTurn: curves.bestTurn[i],
        bestGain: curves.bestGain[i],
        rightToWrong: curves.rightToWrong[i],
        saturatedTurns: curves.secured[i] < 0 ? null : lengths[i] - curves.secured[i] - 1,
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
 */
export function successBefore(trajectories: TrajectoryBatch): { before: Float64Array; source: 'logged' | 'anchored' } {
  const { turnOffsets, groupOf, ids, groupCount } = trajectories;
  const success = successOf(trajectories);
  const said = numbers(trajectories, 'turn.successEstimate');
  const isLogged = said !== null && !isSilent(said);
  const judged = new Int32Array(groupCount);
  const solved = new Int32Array(groupCount);
  for (let i = 0; i < ids.length; i++) {
    if (Number.isNaN(success[i])) continue;
    judged[groupOf[i]]++;
    solved[groupOf[i]] += success[i];
  }
  const anchored = isLogged ? null : { ...placesOf(trajectories), ...visitorsOf(trajectories) };
  const before = new Float64Array(trajectories.stateKey.length);
  if (isLogged) before.set(said.subarray(0, -1), 1);
  for (let i = 0; i < ids.length; i++) {
    // itself is none of the others
    const one = Number.isNaN(success[i]) ? 0 : 1;
    const its = one === 1 ? success[i] : 0;
    const from = turnOffsets[i];
    const to = turnOffsets[i + 1];
    const group = groupOf[i];
    if (from < to) before[from] = one === 1 && judged[group] > 1 ? (solved[group] - its) / (judged[group] - 1) : NaN;
    if (!anchored) continue;
    for (let turn = from + 1; turn < to; turn++) {
      const place = anchored.placeOf[turn];
      const others = place >= 0 ? anchored.judged[place] - one : 0;
      before[turn] = others >= LEAST_VISITS ? (anchored.solved[place] - its) / others : NaN;
    }
  }
  return { before, source: isLogged ? 'logged' : 'anchored' };
}

function isSilent(values: NumericValues): boolean {
  for (let k = 0; k < values.length; k++) if (!Number.isNaN(values[k])) return false;
  return true;
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
      bins[Math.max(0, Math.min(BINS - 1, estimate * BINS)) | 0] += estimate - outcome;
      n++;
    }
  }
  return n > 0 ? bins.reduce((sum, bin) => sum + Math.abs(bin), 0) / n : null;
}

const EVIDENCE_PER_STEP = 3;
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
    const { before, source } = successBefore(trajectories);
    const { ids, groups, groupOf, turnOffsets } = trajectories;
    const { isKnown, noReturn, secured, rightToWrong, worstDrop, worstTurn } = prefixCurves(
      trajectories,
      before,
      options,
    );
    const success = successOf(trajectories);
    const [places, saturated]: [number[], number[]] = [[], []];
    let [known, failures, lostFromStart, wereRight] = [0, 0, 0, 0];
    for (let i = 0; i < ids.length; i++) {
      if (isKnown[i] === 0) continue;
      known++;
      const turns = turnOffsets[i + 1] - turnOffsets[i];
      if (secured[i] >= 0) saturated.push((turns - secured[i] - 1) / turns);
      if (success[i] === 1) continue;
      failures++;
      if (rightToWrong[i] > 0) wereRight++;
      const isOpen = before[turnOffsets[i]] > options.lost;
      if (!isOpen) lostFromStart++;
      else if (noReturn[i] >= 0) places.push(noReturn[i] / turns);
    }
    if (known === 0) return null;
    places.sort((a, b) => a - b);
    const median = places.length === 0 ? null : (places[(places.length - 1) >> 1] + places[places.length >> 1]) / 2;
    const ece = calibrationError(trajectories, before);
    const isTrusted = ece !== null && ece < CALIBRATED;
    return {
      values: {
        medianNoReturn: isTrusted ? median : null,
        lostFromStartShare: failures > 0 ? lostFromStart / failures : null,
        rightToWrongShare: failures > 0 ? wereRight / failures : null,
        saturatedShare: mean(saturated),
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
      evidence: bestRows(
        worstDrop.map((drop, i) => (isKnown[i] === 1 ? -drop : NaN)),
        EVIDENCE_PER_STEP,
      )
        .filter((i) => worstDrop[i] < 0)
        .map((i) => ({
          group: groups[groupOf[i]],
          trajectory: ids[i],
          turn: worstTurn[i],
          note: `the chance of success falls by ${figure(-worstDrop[i])}`,
          weight: -worstDrop[i],
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
