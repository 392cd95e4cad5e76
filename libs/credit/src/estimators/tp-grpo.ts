import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';

const TpGrpoParams = z.strictObject({
  correctReward: z.number().default(1).describe('of a right thought, times the share of successes in the group'),
  incorrectPenalty: z.number().default(1).describe('of a wrong thought of a failure that agrees with its wrong answer'),
  outcomeWeight: z.number().default(1).describe('weight of the group advantage of the success'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof TpGrpoParams>;

interface Marks {
  /** [turns] 1: right */
  readonly correct: NumericValues;
  /** [turns] 1: agrees with the wrong final answer */
  readonly aligned: NumericValues | undefined;
  /** [trajectories] */
  readonly success: NumericValues;
  /** [trajectories] share of successes in the trajectory's group */
  readonly ability: Float64Array;
}

/** What a thought, the turns from .. to − 1 of one mark, is paid. */
function thoughtReward(i: number, from: number, to: number, marks: Marks, params: Params): number {
  if (marks.correct[from] === 1) return marks.ability[i] * params.correctReward;
  if (marks.success[i] === 1) return 0;
  for (let t = from; t < to; t++) if (marks.aligned?.[t] === 1) return -params.incorrectPenalty;
  return 0;
}

/**
 * Rewards of thoughts, runs of turns with one mark, and what is still to come.
 *
 *     right: acc · correctReward;  wrong, of a failure, with a turn that agrees with its answer: −incorrectPenalty;  else 0
 *     G = own reward + G of the next thought
 *
 * @returns [turns] the thought's reward and return on each of its turns, and its number in the trajectory
 */
export function thoughtReturns({ turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>, marks: Marks, params: Params) {
  const reward = new Float64Array(marks.correct.length);
  const toGo = new Float64Array(marks.correct.length);
  const thought = new Float64Array(marks.correct.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    let later = 0;
    for (let end = turnOffsets[i + 1]; end > turnOffsets[i];) {
      let begin = end - 1;
      while (begin > turnOffsets[i] && marks.correct[begin - 1] === marks.correct[end - 1]) begin--;
      const own = thoughtReward(i, begin, end, marks, params);
      later += own;
      reward.fill(own, begin, end);
      toGo.fill(later, begin, end);
      end = begin;
    }
    for (let t = turnOffsets[i] + 1; t < turnOffsets[i + 1]; t++) {
      thought[t] = thought[t - 1] + Number(marks.correct[t] !== marks.correct[t - 1]);
    }
  }
  return { reward, toGo, thought };
}

/** Wrong turns of failures of which nobody said whether they agree with the wrong answer. */
function unjudged({ turnOffsets }: TrajectoryBatch, { correct, success, aligned }: Marks): number {
  let count = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (success[i] !== 1 && correct[t] !== 1 && (!aligned || Number.isNaN(aligned[t]))) count++;
    }
  }
  return count;
}

/**
 * TP-GRPO: judged steps are joined to thoughts, and thoughts are paid by how able the policy is on the task already.
 * Reconstructed.
 *
 *     A[t] = Σ rewards of its thought and the later ones + outcomeWeight · (group advantage of success)
 */
export const tpGrpo = defineEstimator({
  id: 'tp-grpo',
  version: 1,
  title: 'Thought-level process rewards (TP-GRPO)',
  citation: { paper: 'arXiv:2507.23317' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.stepCorrect', 'trajectory.success'],
  accepts: ['turn.alignedWithWrongAnswer'],
  params: TpGrpoParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount, turnOffsets } = trajectories;
    const success = columns['trajectory.success'];
    const { mean } = segmentMoments(success, null, groupOf, groupCount);
    const marks: Marks = {
      correct: columns['turn.stepCorrect'],
      aligned: columns['turn.alignedWithWrongAnswer'],
      success,
      ability: Float64Array.from(groupOf, (group) => mean[group]),
    };
    const { reward, toGo, thought } = thoughtReturns(trajectories, marks, params);
    const outcome = groupAdvantage(success, trajectories, params);
    const values = Float64Array.from(toGo);
    outcome.forEach((advantage, i) => {
      for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) values[t] += params.outcomeWeight * advantage;
    });
    const level = 'turn';
    const silentTurns = unjudged(trajectories, marks);
    return {
      level,
      values,
      explain: {
        thought: { level, values: thought },
        thoughtReward: { level, values: reward },
        thoughtReturn: { level, values: toGo },
        outcomeAdvantage: { level: 'trajectory', values: outcome },
      },
      warnings:
        silentTurns > 0
          ? [`wrong turns of failures without alignedWithWrongAnswer, taken for not aligned: ${silentTurns}`]
          : [],
    };
  },
});
