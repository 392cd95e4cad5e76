import type { TrajectoryBatch } from '#lib/dataset';
import { ownerOf, segmentMoments } from '#lib/numeric';

/** Turn rewards in the order of the batch. */
export interface TurnRewards {
  /** [turns] */
  readonly reward: Float64Array;
  /** [turns] */
  readonly groupOf: Int32Array;
  readonly groupCount: number;
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** discount per turn, 0 … 1 */
  readonly gamma: number;
}

/** A way to make turn advantages of turn rewards. */
export interface TurnFormula {
  readonly id: string;
  readonly cause: string;
  readonly advantage: (rewards: TurnRewards) => Float64Array;
}

const EPSILON = 1e-6;

/** z: (x − mean) / (sample std + 1e-6) over all turns of the group. */
function normalise(x: Float64Array, { groupOf, groupCount }: TurnRewards): Float64Array {
  const { weight, mean, std } = segmentMoments(x, null, groupOf, groupCount);
  return x.map((value, i) => {
    if (weight[groupOf[i]] === 1) return value / (1 + EPSILON);
    return std[groupOf[i]] === 0 ? 0 : (value - mean[groupOf[i]]) / (std[groupOf[i]] + EPSILON);
  });
}

/** D: Σ_{u ≥ t} γ^(u − t) x_u within the trajectory. */
function discount(x: Float64Array, { turnOffsets, gamma }: TurnRewards): Float64Array {
  const sums = new Float64Array(x.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    let sum = 0;
    for (let turn = turnOffsets[i + 1] - 1; turn >= turnOffsets[i]; turn--) {
      sum = x[turn] + gamma * sum;
      sums[turn] = sum;
    }
  }
  return sums;
}

/** γ^t x_t, t counted from the start of the trajectory. */
function discountForward(x: Float64Array, { turnOffsets, gamma }: TurnRewards): Float64Array {
  const trajectoryOf = ownerOf(turnOffsets);
  return x.map((value, turn) => gamma ** (turn - turnOffsets[trajectoryOf[turn]]) * value);
}

/** What the order of normalising z and discounting D makes of turn rewards (the IGPO family). */
export const TURN_FORMULAS: readonly TurnFormula[] = [
  {
    id: 'normalise-then-discount',
    cause: 'rewards are normalised in the group, then summed with discount',
    advantage: (rewards) => discount(normalise(rewards.reward, rewards), rewards),
  },
  {
    id: 'discount-then-normalise',
    cause: 'rewards are summed with discount, then the sums are normalised',
    advantage: (rewards) => normalise(discount(rewards.reward, rewards), rewards),
  },
  {
    id: 'normalise-only',
    cause: 'rewards are normalised and never summed: a turn gets its own reward only',
    advantage: (rewards) => normalise(rewards.reward, rewards),
  },
  {
    id: 'discount-only',
    cause: 'sums with discount are not normalised',
    advantage: (rewards) => discount(rewards.reward, rewards),
  },
  {
    id: 'normalise-then-discount-then-normalise',
    cause: 'normalised before and after the discounted sum',
    advantage: (rewards) => normalise(discount(normalise(rewards.reward, rewards), rewards), rewards),
  },
  {
    id: 'forward-discount',
    cause: 'normalised rewards are discounted by their turn and never summed',
    advantage: (rewards) => discountForward(normalise(rewards.reward, rewards), rewards),
  },
];

/** The turn rewards of a batch; a turn that says none has 0. */
export function turnRewards(trajectories: TrajectoryBatch, reward: ArrayLike<number>, gamma: number): TurnRewards {
  const { turnOffsets, groupOf, groupCount } = trajectories;
  return {
    reward: Float64Array.from(reward, (value) => (Number.isNaN(value) ? 0 : value)),
    groupOf: ownerOf(turnOffsets).map((trajectory) => groupOf[trajectory]),
    groupCount,
    turnOffsets,
    gamma,
  };
}
