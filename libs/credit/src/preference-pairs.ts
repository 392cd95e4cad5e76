import type { Column } from './estimator.js';
import { negativeLogSigmoid, sigmoid } from './implicit-reward.js';
import type { TrajectoryTree } from './trajectory-tree.js';
import type { TrajectoryBatch } from '#lib/dataset';

/** Two alternatives of which one is the better, as nodes of a tree or rows of trajectories. */
export interface Pair {
  readonly chosen: number;
  readonly rejected: number;
}

/** Which of the children of one node make a pair: any two, the best with the worst, the best with each other one. */
export type PairRule = 'all' | 'bestVsWorst' | 'bestVsRest';

/**
 * Pairs of turns that left the same node, the one of the higher value chosen. Several may be best, or worst: each counts.
 *
 * @param value [nodes] NaN: takes no part
 * @param minGap values must differ, and by so much
 */
export function siblingPairs(
  { parentNode }: Pick<TrajectoryTree, 'parentNode'>,
  value: Float64Array,
  rule: PairRule,
  minGap: number,
): Pair[] {
  const families = new Map<number, number[]>();
  parentNode.forEach((parent, n) => {
    if (parent < 0 || Number.isNaN(value[n])) return;
    const family = families.get(parent) ?? [];
    families.set(parent, family);
    family.push(n);
  });
  return [...families.values()].flatMap((family) => {
    const values = family.map((n) => value[n]);
    const [best, worst] = [Math.max(...values), Math.min(...values)];
    const winners = rule === 'all' ? family : family.filter((n) => value[n] === best);
    const losers = rule === 'bestVsWorst' ? family.filter((n) => value[n] === worst) : family;
    return winners.flatMap((chosen) =>
      losers
        .filter((rejected) => value[chosen] > value[rejected] && value[chosen] - value[rejected] >= minGap)
        .map((rejected) => ({ chosen, rejected })),
    );
  });
}

/** What a preference loss says of one pair; `weight` is how hard an update pushes the two apart. */
export interface PairLoss {
  readonly loss: number;
  readonly weight: number;
}

/**
 * The loss of a pair with logit z, and minus its derivative.
 *
 *     loss = −(1 − s) log σ(z) − s log σ(−z)      weight = (1 − s) σ(−z) − s σ(z)      s: label smoothing
 */
export function logisticPairLoss(z: number, smoothing = 0): PairLoss {
  return {
    loss: (1 - smoothing) * negativeLogSigmoid(z) + smoothing * negativeLogSigmoid(-z),
    weight: (1 - smoothing) * sigmoid(-z) - smoothing * sigmoid(z),
  };
}

/** Signed sum of the weights over the pairs: plus where chosen, minus where rejected; 0 in no pair. */
export function signedWeights(pairs: readonly Pair[], weights: readonly number[], count: number): Float64Array {
  const sums = new Float64Array(count);
  pairs.forEach(({ chosen, rejected }, p) => {
    sums[chosen] += weights[p];
    sums[rejected] -= weights[p];
  });
  return sums;
}

/** A column of the whole batch with one value per pair. */
export function pairColumn(values: readonly number[] | readonly string[]): Column {
  const isText = (list: typeof values): list is readonly string[] => typeof list[0] === 'string';
  return {
    level: 'shard',
    values: isText(values) ? values : Float64Array.from(values),
    offsets: Int32Array.of(0, values.length),
  };
}

/** Which turn each node is, as `trajectory:turn`. */
export function turnNames({ ids, turnOffsets }: TrajectoryBatch, { turnOf, depth }: TrajectoryTree) {
  const trajectoryAt = (row: number) => {
    let [low, high] = [0, ids.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (turnOffsets[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return ids[low];
  };
  return (node: number) => `${trajectoryAt(turnOf[node])}:${depth[node] - 1}`;
}
