import type { ConditionalNeeds } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { discountedSums, ownerOf } from '#lib/numeric';
import { z } from 'zod';

/** Params of what is fitted to returns. */
export const RETURN_PARAMS = {
  rewards: z
    .enum(['outcome', 'turn'])
    .default('outcome')
    .describe('the outcome at the last turn and nothing before it, or the reward of each turn'),
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn'),
} as const;

type ReturnParams = { readonly [Name in keyof typeof RETURN_PARAMS]: z.infer<(typeof RETURN_PARAMS)[Name]> };
type Rewards = ReturnParams['rewards'];
type RewardColumns = Readonly<Record<'trajectory.outcomeReward' | 'turn.reward', ArrayLike<number>>>;

export const RETURN_NEEDS = [
  { when: { rewards: 'outcome' }, requires: ['trajectory.outcomeReward'] },
  { when: { rewards: 'turn' }, requires: ['turn.reward'] },
] as const satisfies readonly ConditionalNeeds<
  { rewards: Rewards },
  'trajectory.outcomeReward' | 'turn.reward',
  never
>[];

/** r of every turn. @returns [turns] */
export function turnRewards(
  { turnOffsets }: Pick<TrajectoryBatch, 'turnOffsets'>,
  columns: RewardColumns,
  { rewards }: Pick<ReturnParams, 'rewards'>,
): Float64Array {
  if (rewards === 'turn') return Float64Array.from(columns['turn.reward']);
  const outcome = columns['trajectory.outcomeReward'];
  return Float64Array.from(ownerOf(turnOffsets), (i, t) => (t + 1 === turnOffsets[i + 1] ? outcome[i] : 0));
}

/** G of every turn: G[t] = r[t] + γ G[t+1]. @returns [turns] */
export const turnReturns = (
  trajectories: Pick<TrajectoryBatch, 'turnOffsets'>,
  columns: RewardColumns,
  params: ReturnParams,
): Float64Array => discountedSums(turnRewards(trajectories, columns, params), trajectories.turnOffsets, params.gamma);
