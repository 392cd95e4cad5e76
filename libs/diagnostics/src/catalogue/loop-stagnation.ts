import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { turnRepeats, type TurnRepeats } from '../turn-repeats.js';

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
export function loopStagnation(trajectories: TrajectoryBatch, { maxPeriod, stagnationWindow }: LoopOptions) {
  const { ids, turnOffsets } = trajectories;
  const repeats = turnRepeats(trajectories, maxPeriod);
  const perTrajectory = ids.flatMap((id, i): TrajectoryLoops[] => {
    const turns = turnOffsets[i + 1] - turnOffsets[i];
    if (turns === 0) return [];
    return [
      {
        id,
        turns,
        repeatedStateActionRate: repeats.stateActions[i] / turns,
        repeatedActionRate: repeats.actions[i] / turns,
        noOpRate: turns > 1 ? repeats.noOps[i] / (turns - 1) : 0,
        invalidRate: repeats.invalid[i] / turns,
        loopTurnShare: repeats.inCycle[i] / turns,
        loopPeriod: repeats.period[i] === 0 ? null : repeats.period[i],
        longestLoop: repeats.longestLoop[i],
        uniqueStateShare: repeats.states[i] / turns,
        longestStagnation: repeats.stagnation[i],
        stagnant: repeats.stagnation[i] >= stagnationWindow,
      },
    ];
  });
  return { perTrajectory, ...loopRates(trajectories, repeats, stagnationWindow) };
}

/** The rates of the step. */
function loopRates({ turnOffsets }: TrajectoryBatch, repeats: TurnRepeats, stagnationWindow: number) {
  const count = turnOffsets.length - 1;
  const sums = { stateActions: 0, actions: 0, invalid: 0, inCycle: 0 };
  let [all, known, stagnant, looping] = [0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const turns = turnOffsets[i + 1] - turnOffsets[i];
    if (turns === 0) continue;
    all += turns;
    known++;
    if (repeats.stagnation[i] >= stagnationWindow) stagnant++;
    if (repeats.longestLoop[i] > 0) looping++;
    sums.stateActions += (repeats.stateActions[i] / turns) * turns;
    sums.actions += (repeats.actions[i] / turns) * turns;
    sums.invalid += (repeats.invalid[i] / turns) * turns;
    sums.inCycle += (repeats.inCycle[i] / turns) * turns;
  }
  return {
    repeatedStateActionRate: all > 0 ? sums.stateActions / all : null,
    repeatedActionRate: all > 0 ? sums.actions / all : null,
    invalidRate: all > 0 ? sums.invalid / all : null,
    loopTurnShare: all > 0 ? sums.inCycle / all : null,
    stagnantTrajectoryShare: known > 0 ? stagnant / known : null,
    loopTrajectoryShare: known > 0 ? looping / known : null,
  };
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

  measure({ trajectories }, { maxPeriod, stagnationWindow }) {
    const { ids, groups, groupOf, turnOffsets } = trajectories;
    const repeats = turnRepeats(trajectories, maxPeriod);
    const values = loopRates(trajectories, repeats, stagnationWindow);
    if (values.loopTrajectoryShare === null) return null;
    const { longestLoop, period } = repeats;
    let observations = 0;
    for (let row = 0; row < ids.length; row++) if (turnOffsets[row + 1] > turnOffsets[row]) observations++;
    return {
      values,
      observations,
      evidence: bestRows(longestLoop, EVIDENCE_PER_STEP)
        .filter((row) => longestLoop[row] > 0)
        .map((row) => ({
          group: groups[groupOf[row]],
          trajectory: ids[row],
          note: `${longestLoop[row]} of ${turnOffsets[row + 1] - turnOffsets[row]} turns in a cycle of ${period[row]}`,
          weight: longestLoop[row],
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
