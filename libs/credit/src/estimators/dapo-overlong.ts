import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const DapoOverlongParams = z.strictObject({
  maxResponseLength: z.int().positive().default(20480).describe('tokens; the penalty is penaltyFactor there'),
  overlongBufferLength: z
    .int()
    .positive()
    .default(4096)
    .describe('tokens before the maximum on which the penalty grows'),
  penaltyFactor: z.number().nonnegative().default(1).describe('the penalty at the maximum'),
  clamp: z
    .enum(['none', 'buffer'])
    .default('none')
    .describe("beyond the maximum the penalty grows on ('none', verl) or stays ('buffer', OpenRLHF and TRL)"),
});

/**
 * DAPO's soft overlong punishment: what a response loses for coming near the maximum length.
 *
 *     excess  = length − (maximum − buffer)      clamp 'buffer': at most buffer
 *     penalty = min(−excess / buffer · factor, 0)
 *
 * 0 up to maximum − buffer, −factor at the maximum. Not clamped, it grows on beyond it.
 */
export function overlongPenalty(
  length: number,
  { maxResponseLength, overlongBufferLength, penaltyFactor, clamp }: z.infer<typeof DapoOverlongParams>,
): number {
  const beyond = length - (maxResponseLength - overlongBufferLength);
  const excess = clamp === 'buffer' ? Math.min(beyond, overlongBufferLength) : beyond;
  return excess > 0 ? -(excess / overlongBufferLength) * penaltyFactor : 0;
}

export const dapoOverlong = defineEstimator({
  id: 'dapo-overlong',
  version: 1,
  title: 'Reward less a length penalty (DAPO overlong shaping)',
  citation: { paper: 'arXiv:2503.14476', code: 'verl-project/verl:verl/workers/reward_manager/dapo.py@1dda039b9' },
  status: 'verified',
  gives: 'reward',
  levels: ['trajectory'],
  groupRelative: false,
  requires: ['trajectory.outcomeReward', 'trajectory.responseLength'],
  accepts: [],
  params: DapoOverlongParams,
  estimate(_, columns, params) {
    const level = 'trajectory';
    const reward = columns['trajectory.outcomeReward'];
    const penalty = Float64Array.from(columns['trajectory.responseLength'], (length) =>
      overlongPenalty(length, params),
    );
    const values = penalty.map((loss, i) => reward[i] + loss);
    return {
      level,
      values,
      explain: { lengthPenalty: { level, values: penalty }, trajectoryReward: { level, values } },
    };
  },
});
