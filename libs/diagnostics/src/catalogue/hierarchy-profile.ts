import { jsonValues, numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { mean, successOf } from '../groups.js';
import { counted, figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** The segments of one trajectory: turns in a row with one subgoal. */
export interface Segments {
  readonly row: number;
  readonly turns: number;
  readonly count: number;
  /** [segments] first turn of each, as a row of the batch */
  readonly opened: readonly number[];
}

/**
 * The segments of every trajectory that names a subgoal; a turn that names none goes on with the last one.
 *
 * Source: ours, after HiPER, HiMAC and Hi-Agent.
 */
export function segmentsOf(trajectories: TrajectoryBatch): Segments[] {
  const { ids, turnOffsets } = trajectories;
  const column = trajectories.columns.get('turn.subgoal');
  const subgoals = column ? jsonValues(column) : [];
  return ids.flatMap((_, row) => {
    const [from, to] = [turnOffsets[row], turnOffsets[row + 1]];
    const opened: number[] = [];
    let current: unknown = null;
    for (let turn = from; turn < to; turn++) {
      const subgoal = subgoals[turn] ?? current;
      if (opened.length === 0 || subgoal !== current) opened.push(turn);
      current = subgoal;
    }
    return current === null ? [] : [{ row, turns: to - from, count: opened.length, opened }];
  });
}

const MOST_SEGMENTS = 4;
const NO_CREDIT = 'needs turn.loggedAdvantage';

export const hierarchyProfileDiagnostic = stepwise({
  id: 'hierarchy-profile',
  version: 1,
  title: 'Plans and their steps',
  question: 'Does the agent plan over several turns, and replan when it must?',
  remedy:
    'One turn per subgoal: reward finishing a subgoal. One subgoal for ever: reward a change of plan after failing.',
  headline: 'meanSegmentLength',
  level: 'trajectory',
  status: 'own',
  source: 'after HiPER, HiMAC and Hi-Agent; ours',
  requires: ['turn.subgoal'],
  accepts: ['turn.loggedAdvantage', 'trajectory.outcomeReward', 'trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    short: z.number().min(1).default(1.5).describe('turns of a segment: fewer is worth a note'),
    never: z
      .number()
      .min(0)
      .max(1)
      .default(0.9)
      .describe('share of trajectories with one subgoal: more is worth a note'),
  }),

  measure({ trajectories }) {
    const all = segmentsOf(trajectories);
    if (all.length === 0) return null;
    const { ids, groups, groupOf, turnOffsets } = trajectories;
    const credit = numbers(trajectories, 'turn.loggedAdvantage');
    const success = successOf(trajectories);
    const turns = all.reduce((sum, one) => sum + one.turns, 0);
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const long = all.filter((one) => one.turns > 1);
    const switches = long.reduce((sum, one) => sum + one.count - 1, 0);
    const steps = long.reduce((sum, one) => sum + one.turns - 1, 0);
    let [opening, total] = [0, 0];
    for (const { row, opened } of credit ? all : []) {
      for (const turn of opened) opening += Math.abs(credit![turn] || 0);
      for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) total += Math.abs(credit![turn] || 0);
    }
    const judged = all.filter(({ row }) => !Number.isNaN(success[row]));
    const byCount = Array.from({ length: MOST_SEGMENTS }, (_, k) => {
      const some = judged.filter((one) => Math.min(one.count, MOST_SEGMENTS) === k + 1);
      return [
        `success@${k + 1}${k + 1 === MOST_SEGMENTS ? '+' : ''}`,
        mean(some.map(({ row }) => success[row])),
      ] as const;
    });
    return {
      values: {
        meanSegmentLength: turns / count,
        segmentsPerTrajectory: count / all.length,
        switchRate: steps > 0 ? switches / steps : null,
        singleShare: long.length > 0 ? long.filter((one) => one.count === 1).length / long.length : null,
        openingCreditShare: total > 0 ? opening / total : null,
        ...Object.fromEntries(byCount),
      },
      reasons: {
        switchRate: 'needs a trajectory of two turns',
        singleShare: 'needs a trajectory of two turns',
        openingCreditShare: NO_CREDIT,
        ...Object.fromEntries(byCount.map(([name]) => [name, 'no trajectory with as many subgoals has an outcome'])),
      },
      observations: all.length,
      evidence: all
        .toSorted((a, b) => b.count - a.count)
        .slice(0, 1)
        .map(({ row, count: segments, turns: of }) => ({
          group: groups[groupOf[row]],
          trajectory: ids[row],
          note: `${counted(segments, 'subgoal')} in ${counted(of, 'turn')}`,
          weight: segments,
        })),
    };
  },

  sentence: ({ meanSegmentLength, segmentsPerTrajectory, singleShare }) =>
    `a subgoal lasts ${counted(meanSegmentLength ?? 0, 'turn')}, a trajectory has ${figure(segmentsPerTrajectory ?? 0)} of them; ${percent(singleShare ?? 0)} never change it`,

  rules: ({ short, never }) => [
    {
      id: 'flat-policy',
      level: 'info',
      all: [{ value: 'meanSegmentLength', op: '<', limit: short }],
      minimum: 32,
      says: `a subgoal lasts fewer than ${short} turns: the plan says no more than the actions`,
    },
    {
      id: 'never-replans',
      level: 'info',
      all: [{ value: 'singleShare', op: '>', limit: never }],
      minimum: 32,
      says: `more than ${percent(never)} of the trajectories keep their first subgoal to the end`,
    },
  ],
});
