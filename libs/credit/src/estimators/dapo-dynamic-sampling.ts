import { numbers } from '#lib/dataset';
import { repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const DapoDynamicSamplingParams = z.strictObject({
  metric: z
    .string()
    .regex(/^[A-Za-z]\w*$/, 'the name of a trajectory signal')
    .default('outcomeReward')
    .describe('the trajectory signal that has to vary: outcomeReward, or another such as answerScore'),
  keepSingletons: z
    .boolean()
    .default(true)
    .describe('a group of one is kept, as DAPO and verl do; false drops it, as verl-agent does'),
});

/**
 * DAPO's dynamic sampling: a group whose metric does not vary carries no gradient and is left out.
 *
 *     keep[g] = 1    the values of group g are not all equal, or it is one trajectory and keepSingletons
 *               0    else
 *
 * Equal is equal up to rounding, as everywhere here: what is dropped is what group-relative credit gives 0. The reference
 * asks for a spread > 0, which three times 0.1 has.
 */
export const dapoDynamicSampling = defineEstimator({
  id: 'dapo-dynamic-sampling',
  version: 1,
  title: 'Groups that vary (DAPO dynamic sampling)',
  citation: { paper: 'arXiv:2503.14476', code: 'langfengQ/DrMAS:recipe/dapo/dapo_ray_trainer.py@19c632b' },
  status: 'verified',
  gives: 'keep',
  levels: ['trajectory'],
  groupRelative: false,
  requires: [],
  accepts: [],
  signalParams: [{ param: 'metric', level: 'trajectory' }],
  params: DapoDynamicSamplingParams,
  estimate(trajectories, _, { metric, keepSingletons }) {
    const { groups, groupOf, groupCount, turnOffsets } = trajectories;
    const values = numbers(trajectories, `trajectory.${metric}`) ?? new Float64Array(0);
    const { weight, std } = segmentMoments(values, null, groupOf, groupCount);
    const keepGroup = std.map((spread, g) => Number(weight[g] === 1 ? keepSingletons : spread !== 0));
    const keep = Float64Array.from(groupOf, (g) => keepGroup[g]);
    const dropped = keepGroup.filter((kept) => kept === 0).length;
    return {
      level: 'trajectory',
      values: keep,
      explain: {
        keptGroups: { level: 'group', values: groups.map((name, g) => (keepGroup[g] ? name : null)), selection: true },
        keptTrajectory: { level: 'trajectory', values: keep },
        keptTurns: { level: 'turn', values: repeatRows(keep, turnOffsets) },
        droppedShare: { level: 'shard', values: Float64Array.of(dropped / Math.max(1, groupCount)) },
      },
    };
  },
});
