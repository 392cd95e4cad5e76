import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { mean, successOf, widthOf } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

export interface PrefixOptions {
  /** a chance up to this is lost, one from that on is won */
  readonly lost: number;
  readonly won: number;
}

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

const EVEN = 0.5;

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
  return {
    aliveByTurn: alive.map(({ length }) => length),
    successByTurnAlive: alive.map((outcomes) => mean(outcomes)),
    perTrajectory: ids.map((_, i): PrefixCurve | null => {
      const curve = [...before.subarray(turnOffsets[i], turnOffsets[i + 1]), success[i]];
      return curve.length < 2 || curve.some(Number.isNaN) ? null : curveOf(curve, options);
    }),
  };
}

function curveOf(curve: readonly number[], { lost, won }: PrefixOptions): PrefixCurve {
  const progress = curve.slice(1).map((value, t) => value - curve[t]);
  const isSuccess = curve.at(-1) === 1;
  const noReturn = isSuccess ? null : sinceWhen(curve, (value) => value <= lost);
  const secured = isSuccess ? sinceWhen(curve, (value) => value >= won) : null;
  const worstDrop = Math.min(...progress);
  const bestGain = Math.max(...progress);
  return {
    progress,
    pointOfNoReturn: noReturn,
    pointOfSecuredSuccess: secured,
    worstTurn: progress.indexOf(worstDrop),
    worstDrop,
    bestTurn: progress.indexOf(bestGain),
    bestGain,
    rightToWrong: progress.filter((_, t) => t + 1 < progress.length && curve[t] >= EVEN && curve[t + 1] < EVEN).length,
    saturatedTurns: secured === null ? null : progress.length - secured - 1,
  };
}

/** The first turn from which on a claim holds to the end; null: it holds of the outcome only. */
function sinceWhen(curve: readonly number[], holds: (value: number) => boolean): number | null {
  const since = curve.findLastIndex((value) => !holds(value)) + 1;
  return since < curve.length - 1 ? since : null;
}

/** Other trajectories through a state that an anchored estimate needs. */
const LEAST_VISITS = 3;

/**
 * [turns] the chance of success before each turn: what was said after the turn before it (`successEstimate`), and where
 * nothing is said, the mean outcome of at least three other trajectories of the group through the same state.
 * Before the first turn: the others of the group. NaN: not known.
 */
export function successBefore(trajectories: TrajectoryBatch): { before: Float64Array; source: 'logged' | 'anchored' } {
  const { turnOffsets, stateKey, groupOf, ids, groupCount } = trajectories;
  const success = successOf(trajectories);
  const said = numbers(trajectories, 'turn.successEstimate');
  const source = said?.some((value) => !Number.isNaN(value)) ? 'logged' : 'anchored';
  const owner = ownerOf(turnOffsets);
  const tallies = Array.from({ length: groupCount }, () => ({ n: 0, c: 0 }));
  ids.forEach((_, i) => {
    if (Number.isNaN(success[i])) return;
    tallies[groupOf[i]].n++;
    tallies[groupOf[i]].c += success[i];
  });
  const width = widthOf(stateKey);
  const visits = new Map<number, Map<number, number>>();
  const placeOf = (turn: number) => groupOf[owner[turn]] * width + stateKey[turn];
  if (source === 'anchored') {
    stateKey.forEach((key, turn) => {
      const i = owner[turn];
      if (key < 0 || Number.isNaN(success[i])) return;
      const known = visits.get(placeOf(turn)) ?? new Map<number, number>();
      visits.set(placeOf(turn), known.set(i, success[i]));
    });
  }
  const before = Float64Array.from(stateKey, (_, turn) => {
    const i = owner[turn];
    if (turn === turnOffsets[i]) {
      const { n, c } = tallies[groupOf[i]];
      return n > 1 && !Number.isNaN(success[i]) ? (c - success[i]) / (n - 1) : NaN;
    }
    if (source === 'logged') return said![turn - 1];
    const others = [...(visits.get(placeOf(turn)) ?? [])].filter(([visitor]) => visitor !== i);
    return others.length >= LEAST_VISITS ? mean(others.map(([, outcome]) => outcome))! : NaN;
  });
  return { before, source };
}

const BINS = 10;

/** Expected calibration error of the estimates against the outcome, ten bins; NaN: nothing to compare. */
function calibrationError(trajectories: TrajectoryBatch, before: Float64Array): number | null {
  const owner = ownerOf(trajectories.turnOffsets);
  const success = successOf(trajectories);
  const bins = new Float64Array(BINS);
  let n = 0;
  before.forEach((estimate, turn) => {
    const outcome = success[owner[turn]];
    if (Number.isNaN(estimate) || Number.isNaN(outcome)) return;
    bins[Math.min(BINS - 1, Math.max(0, Math.floor(estimate * BINS)))] += estimate - outcome;
    n++;
  });
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
    const { ids, groups, groupOf } = trajectories;
    const curves = prefixSuccess(trajectories, before, options).perTrajectory;
    const known = curves.flatMap((curve, i) => (curve ? [{ curve, i, turns: curve.progress.length }] : []));
    if (known.length === 0) return null;
    const success = successOf(trajectories);
    const failures = known.filter(({ i }) => success[i] !== 1);
    const isOpen = ({ i }: (typeof failures)[number]) => before[trajectories.turnOffsets[i]] > options.lost;
    const places = failures
      .filter(isOpen)
      .flatMap(({ curve, turns }) => (curve.pointOfNoReturn === null ? [] : [curve.pointOfNoReturn / turns]))
      .sort((a, b) => a - b);
    const median = places.length === 0 ? null : (places[(places.length - 1) >> 1] + places[places.length >> 1]) / 2;
    const saturated = known.flatMap(({ curve, turns }) => (curve.saturatedTurns === null ? [] : [curve.saturatedTurns / turns])); // prettier-ignore
    const ece = calibrationError(trajectories, before);
    const isTrusted = ece !== null && ece < CALIBRATED;
    return {
      values: {
        medianNoReturn: isTrusted ? median : null,
        lostFromStartShare: mean(failures.map((failure) => Number(!isOpen(failure)))),
        rightToWrongShare: mean(failures.map(({ curve }) => Number(curve.rightToWrong > 0))),
        saturatedShare: mean(saturated),
        calibrationError: ece,
        logged: Number(source === 'logged'),
        curves: known.length,
      },
      reasons: {
        medianNoReturn: isTrusted
          ? 'no failure was lost between its start and its end'
          : 'the estimates are off by 0.1 or more',
        lostFromStartShare: 'nothing failed',
        rightToWrongShare: 'nothing failed',
        saturatedShare: 'no success was secured before its end',
      },
      observations: known.length,
      evidence: known
        .toSorted((a, b) => a.curve.worstDrop - b.curve.worstDrop)
        .slice(0, EVIDENCE_PER_STEP)
        .filter(({ curve }) => curve.worstDrop < 0)
        .map(({ curve: { worstDrop, worstTurn }, i }) => ({
          group: groups[groupOf[i]],
          trajectory: ids[i],
          turn: worstTurn,
          note: `the chance of success falls by ${figure(-worstDrop)}`,
          weight: -worstDrop,
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
