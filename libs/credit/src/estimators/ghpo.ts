import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import { unansweredGroupsOfOne } from '../groups-of-one.js';

const GhpoParams = z.strictObject({
  hintRatios: z
    .array(z.number().gt(0).max(1))
    .default([0.25, 0.5, 0.75])
    .describe('shares of the reference solution that are shown, one after the other, while nobody solves the task'),
  accuracyWeight: z.number().default(1).describe('weight of the accuracy reward'),
  formatWeight: z.number().default(0.5).describe('weight of the format reward'),
  ...GROUP_PARAMS,
  epsilon: z.number().nonnegative().default(1e-4).describe("added to the group's spread"),
  singleton: z
    .enum(['zero', 'raw'])
    .default('zero')
    .describe("a group of one, undefined in the reference, gets 0 ('zero') or keeps its reward ('raw')"),
});

/** Rewards by hint level, in per cent of the solution; level 0 is always there. */
const ByHint = z.object({ '0': z.number() }).catchall(z.number());
type ByHint = z.infer<typeof ByHint>;

const keyOf = (ratio: number) => String(Math.round(100 * ratio));

/**
 * The hint ratio at which a group was last generated: the first at which anyone is right, or the last one tried.
 *
 *     level = 0; while a next level was run and all accuracies ≤ 0: the next level
 */
export function finalHint(
  accuracy: readonly ByHint[],
  format: readonly ByHint[],
  hintRatios: readonly number[],
): number {
  let final = 0;
  for (const next of hintRatios) {
    const wasRun = [...accuracy, ...format].every((byHint) => keyOf(next) in byHint);
    if (!wasRun || accuracy.some((byHint) => byHint[keyOf(final)] > 0)) break;
    final = next;
  }
  return final;
}

function hints(
  trajectories: TrajectoryBatch,
  accuracy: readonly (ByHint | null)[],
  format: readonly (ByHint | null)[],
  ratios: readonly number[],
) {
  const hint = new Float64Array(trajectories.ids.length);
  for (const members of groupMembers(trajectories)) {
    const of = (byHint: readonly (ByHint | null)[]) => members.map((i) => byHint[i]!);
    const final = finalHint(of(accuracy), of(format), ratios);
    for (const i of members) hint[i] = final;
  }
  return hint;
}

/**
 * GHPO: a group that nobody solves is generated again with a growing share of the reference solution in its prompt, and
 * compared at the level where that ended.
 *
 *     R[i] = a · accuracy[i] + f · format[i]      at the group's final hint level (finalHint)
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)    ddof = 1; a group of one gets 0
 */
export const ghpo = defineEstimator({
  id: 'ghpo',
  version: 1,
  title: 'Difficulty-aware guidance (GHPO)',
  citation: { paper: 'arXiv:2507.10628', code: 'hkgc-1/GHPO:src/ghpo/ghpo_trainer.py@af0a7dd' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.accuracyByHint', 'trajectory.formatByHint'],
  accepts: [],
  kinds: { 'trajectory.accuracyByHint': ByHint, 'trajectory.formatByHint': ByHint },
  params: GhpoParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.accuracyByHint': accuracy, 'trajectory.formatByHint': format } = columns;
    const hintRatio = hints(trajectories, accuracy, format, params.hintRatios);
    const reward = hintRatio.map((hint, i) => {
      return params.accuracyWeight * accuracy[i]![keyOf(hint)] + params.formatWeight * format[i]![keyOf(hint)];
    });
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        hintRatio: { level, values: hintRatio },
        difficult: { level, values: hintRatio.map((hint) => (hint > 0 ? 1 : 0)) },
        trajectoryReward: { level, values: reward },
      },
      warnings: params.singleton === 'zero' ? unansweredGroupsOfOne(trajectories) : [],
    };
  },
});
