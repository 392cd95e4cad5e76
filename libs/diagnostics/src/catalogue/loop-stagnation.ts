import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { widthOf } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

export interface LoopOptions {
  /** the longest cycle that is looked for, in turns */
  readonly maxPeriod: number;
  /** turns without a new state after which a trajectory is stagnant */
  readonly stagnationWindow: number;
}

/** What the turns of one trajectory repeat. */
export interface TrajectoryLoops {
  readonly id: string;
  readonly turns: number;
  /** share of turns whose (state, action) was there before */
  readonly repeatedStateActionRate: number;
  /** share of turns whose action was taken on an earlier valid turn (RLVMR's rule) */
  readonly repeatedActionRate: number;
  /** share of turns but the last after which the state is the same; 0 for one turn */
  readonly noOpRate: number;
  readonly invalidRate: number;
  /** share of turns that lie in a cycle */
  readonly loopTurnShare: number;
  /** turns of the cycle that lasts longest; null: no cycle */
  readonly loopPeriod: number | null;
  /** turns that it spans */
  readonly longestLoop: number;
  readonly uniqueStateShare: number;
  /** most turns since a state was new */
  readonly longestStagnation: number;
  readonly stagnant: boolean;
}

/**
 * Repetition, cycles and stagnation of every trajectory; x_t is the pair (state, action).
 *
 *     cycle of period p   a maximal run of r ≥ p consecutive t with x_t = x_(t − p); it spans r + p turns
 *     stagnation          max over t of t − (the last turn whose state was new)
 *
 * The run's rates are weighted by turns. Trajectories without turns have none. Validity: `isActionValid`, else not
 * `toolError`, else all are valid.
 *
 * Source: repeats as RLVMR's exploration step (zzjweb/digitalhuman); cycles and stagnation ours.
 */
export function loopStagnation(trajectories: TrajectoryBatch, options: LoopOptions) {
  const { ids, turnOffsets } = trajectories;
  const isValid = validity(trajectories);
  const width = widthOf(trajectories.actionKey);
  const perTrajectory = ids.flatMap((id, i) =>
    turnOffsets[i + 1] > turnOffsets[i]
      ? [loopsOf(id, trajectories, turnOffsets[i], turnOffsets[i + 1], isValid, width, options)]
      : [],
  );
  const turns = perTrajectory.reduce((sum, one) => sum + one.turns, 0);
  const byTurn = (field: 'repeatedStateActionRate' | 'repeatedActionRate' | 'invalidRate' | 'loopTurnShare') =>
    turns > 0 ? perTrajectory.reduce((sum, one) => sum + one[field] * one.turns, 0) / turns : null;
  const share = (is: (one: TrajectoryLoops) => boolean) =>
    perTrajectory.length > 0 ? perTrajectory.filter(is).length / perTrajectory.length : null;
  return {
    perTrajectory,
    repeatedStateActionRate: byTurn('repeatedStateActionRate'),
    repeatedActionRate: byTurn('repeatedActionRate'),
    invalidRate: byTurn('invalidRate'),
    loopTurnShare: byTurn('loopTurnShare'),
    stagnantTrajectoryShare: share(({ stagnant }) => stagnant),
    loopTrajectoryShare: share(({ longestLoop }) => longestLoop > 0),
  };
}

/** [turns] whether the environment took the action. */
function validity(trajectories: TrajectoryBatch): (turn: number) => boolean {
  const valid = numbers(trajectories, 'turn.isActionValid');
  const error = numbers(trajectories, 'turn.toolError');
  return (turn) => {
    if (valid && !Number.isNaN(valid[turn])) return valid[turn] !== 0;
    return !error || Number.isNaN(error[turn]) || error[turn] === 0;
  };
}

function loopsOf(
  id: string,
  { stateKey, actionKey }: TrajectoryBatch,
  from: number,
  to: number,
  isValid: (turn: number) => boolean,
  width: number,
  { maxPeriod, stagnationWindow }: LoopOptions,
): TrajectoryLoops {
  const turns = to - from;
  const seen = new Set<number>();
  const states = new Set<number>();
  const validActions = new Set<number>();
  const count = { pairs: 0, actions: 0, noOps: 0, invalid: 0 };
  let [lastNew, longestStagnation] = [from, 0];
  for (let turn = from; turn < to; turn++) {
    const pair = stateKey[turn] * width + actionKey[turn];
    if (seen.has(pair)) count.pairs++;
    seen.add(pair);
    if (validActions.has(actionKey[turn])) count.actions++;
    if (isValid(turn)) validActions.add(actionKey[turn]);
    else count.invalid++;
    if (turn + 1 < to && stateKey[turn + 1] === stateKey[turn]) count.noOps++;
    if (!states.has(stateKey[turn])) lastNew = turn;
    states.add(stateKey[turn]);
    longestStagnation = Math.max(longestStagnation, turn - lastNew);
  }
  return {
    id,
    turns,
    repeatedStateActionRate: count.pairs / turns,
    repeatedActionRate: count.actions / turns,
    noOpRate: turns > 1 ? count.noOps / (turns - 1) : 0,
    invalidRate: count.invalid / turns,
    ...cyclesOf(turns, maxPeriod, (t, p) => {
      const [now, then] = [from + t, from + t - p];
      return stateKey[now] === stateKey[then] && actionKey[now] === actionKey[then];
    }),
    uniqueStateShare: states.size / turns,
    longestStagnation,
    stagnant: longestStagnation >= stagnationWindow,
  };
}

/** @param isRepeat whether turn t is what turn t − p was */
function cyclesOf(turns: number, maxPeriod: number, isRepeat: (t: number, p: number) => boolean) {
  const inCycle = new Uint8Array(turns);
  let [longestLoop, loopPeriod]: [number, number | null] = [0, null];
  for (let p = 1; p <= maxPeriod; p++) {
    for (let t = p; t < turns; t++) {
      let end = t;
      while (end < turns && isRepeat(end, p)) end++;
      if (end - t >= p) {
        inCycle.fill(1, t - p, end);
        if (end - t + p > longestLoop) [longestLoop, loopPeriod] = [end - t + p, p];
      }
      t = Math.max(t, end);
    }
  }
  return { loopTurnShare: inCycle.reduce((sum, flag) => sum + flag, 0) / turns, loopPeriod, longestLoop };
}

const EVIDENCE_PER_STEP = 3;

export const loopStagnationDiagnostic = stepwise({
  id: 'loop-stagnation',
  version: 1,
  title: 'Loops and repeats',
  question: 'Does the agent repeat itself, run in circles, or do what the environment refuses?',
  remedy:
    'Penalise repeats of an action that was taken already, show the agent its last actions, end trajectories that stand still.',
  headline: 'repeatedActionRate',
  level: 'trajectory',
  status: 'own',
  source: 'repeat rule: RLVMR (zzjweb/digitalhuman) and its paper; cycles and stagnation ours',
  requires: ['turn.action'],
  accepts: ['turn.state', 'turn.isActionValid', 'turn.toolError'],
  metrics: [],
  params: z.strictObject({
    maxPeriod: z.int().min(1).max(16).default(4).describe('longest cycle that is looked for, in turns'),
    stagnationWindow: z.int().min(1).default(5).describe('turns without a new state: stagnant'),
  }),
  thresholds: z.strictObject({
    warnRepeats: z.number().min(0).max(1).default(0.15).describe('share of repeated actions: a warning'),
    criticalRepeats: z.number().min(0).max(1).default(0.3).describe('share of repeated actions: critical'),
    invalid: z.number().min(0).max(1).default(0.1).describe('share of invalid actions: a warning'),
  }),

  measure({ trajectories }, params) {
    const { perTrajectory, ...values } = loopStagnation(trajectories, params);
    if (perTrajectory.length === 0) return null;
    const { groups, groupOf, ids } = trajectories;
    const groupOfId = new Map(ids.map((id, i) => [id, groups[groupOf[i]]]));
    return {
      values,
      observations: perTrajectory.length,
      evidence: perTrajectory
        .filter(({ longestLoop }) => longestLoop > 0)
        .sort((a, b) => b.longestLoop - a.longestLoop)
        .slice(0, EVIDENCE_PER_STEP)
        .map(({ id, longestLoop, loopPeriod, turns }) => ({
          group: groupOfId.get(id)!,
          trajectory: id,
          note: `${longestLoop} of ${turns} turns in a cycle of ${loopPeriod}`,
          weight: longestLoop,
        })),
    };
  },

  sentence: ({ repeatedActionRate, loopTrajectoryShare, invalidRate }) =>
    `${percent(repeatedActionRate ?? 0)} of the actions repeat an earlier one, ${percent(loopTrajectoryShare ?? 0)} of the trajectories run in circles, ${percent(invalidRate ?? 0)} of the actions are invalid`,

  rules: ({ warnRepeats, criticalRepeats, invalid }) => [
    {
      id: 'repeating-much',
      level: 'critical',
      all: [{ value: 'repeatedActionRate', op: '>', limit: criticalRepeats }],
      minimum: 32,
      says: `more than ${percent(criticalRepeats)} of the actions repeat an earlier one`,
    },
    {
      id: 'repeating',
      level: 'warn',
      all: [{ value: 'repeatedActionRate', op: '>', limit: warnRepeats }],
      minimum: 32,
      says: `more than ${percent(warnRepeats)} of the actions repeat an earlier one`,
    },
    {
      id: 'invalid-actions',
      level: 'warn',
      all: [{ value: 'invalidRate', op: '>', limit: invalid }],
      minimum: 32,
      says: `more than ${percent(invalid)} of the actions are invalid`,
    },
  ],
});
