import { nodeMeans } from '#lib/credit';
import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { anchorsOf, type Anchor } from './anchors.js';
import { mixedOutcomes } from './trace-allocation.js';

export interface RestartParams {
  /** rollouts of a group, for the chance that they end both ways; null: the largest group of the step */
  readonly groupSize: number | null;
  /** successes and failures that every place is given beforehand */
  readonly priorA: number;
  readonly priorB: number;
  /** Go-Explore: weight of how often a place was passed and was started from, and the power of the counts */
  readonly seenWeight: number;
  readonly chosenWeight: number;
  readonly power: number;
  /** PrefixRL: a prompt is hard up to this success, and a prefix is of use with a success in between */
  readonly hardBelow: number;
  readonly low: number;
  readonly high: number;
}

export const RESTART_DEFAULTS: RestartParams = {
  groupSize: null,
  priorA: 1,
  priorB: 1,
  seenWeight: 0,
  chosenWeight: 0,
  power: 0.5,
  hardBelow: 0.25,
  low: 0.2,
  high: 0.8,
};

/** One place to start from again, with every score that a method gives it. */
export interface RestartState extends Anchor {
  /** of the outcomes from here, ddof = 0: what ExIt calls learnability; a place never tried has the most a success can, 0.25 */
  readonly learnability: number;
  /** ddof = 1; null: fewer than two */
  readonly sampleVariance: number | null;
  /** chance that a group started here ends both ways */
  readonly mixed: number;
  /** 1 / √(continuations + 1) */
  readonly novelty: number;
  /** a trajectory through here succeeded (outcome above 0) */
  readonly leadsToSuccess: boolean;
  /** different turns that were taken from here */
  readonly tried: number;
  /** Go-Explore: Σ w / (count + 1)^power */
  readonly exploreWeight: number;
}

/** A success of a hard prompt, and the shortest prefix of it that makes the prompt learnable. */
export interface PrefixAdvice {
  readonly group: string;
  readonly promptMean: number;
  readonly trajectory: string;
  /** turns to replay; null: no prefix of it is in between */
  readonly prefixTurns: number | null;
  /** smoothed mean outcome from there, and what that is above the prompt's */
  readonly mean: number | null;
  readonly lift: number | null;
}

export interface RestartStates {
  /** best first: by mixed, then by novelty, then as reached */
  readonly states: readonly RestartState[];
  readonly prefixes: readonly PrefixAdvice[];
}

/**
 * Places worth returning to, by what ExIt, Go-Explore and PrefixRL go by. A report, no credit.
 *
 * Verified in code are the Go-Explore weights; of ExIt (arXiv:2509.04575) and PrefixRL (arXiv:2601.18795) the ideas are
 * verified and the details reconstructed. Outcomes are taken to be in 0 .. 1.
 *
 * @param outcome [trajectories] NaN: none
 */
export function restartStates(
  trajectories: TrajectoryBatch,
  outcome: NumericValues,
  params: Partial<RestartParams> = {},
): RestartStates {
  const all = { ...RESTART_DEFAULTS, ...params };
  const { tree, anchors } = anchorsOf(trajectories, outcome);
  const squares = nodeMeans(tree, outcome.map((r) => r * r), 'leaves').mean; // prettier-ignore
  const highest = new Float64Array(tree.nodeCount).fill(-Infinity);
  const tried = new Int32Array(tree.nodeCount);
  tree.endNode.forEach((end, i) => (highest[end] = Math.max(highest[end], Number.isNaN(outcome[i]) ? -Infinity : outcome[i]))); // prettier-ignore
  for (let n = tree.nodeCount - 1; n >= 0; n--) {
    const parent = tree.parentNode[n];
    if (parent < 0) continue;
    highest[parent] = Math.max(highest[parent], highest[n]);
    tried[parent]++;
  }
  const sizes = new Int32Array(trajectories.groupCount);
  for (const g of trajectories.groupOf) sizes[g]++;
  const size = all.groupSize ?? sizes.reduce((most, each) => Math.max(most, each), 0);
  const smoothed = ({ mean, continuations: n }: Anchor) =>
    ((mean ?? 0) * n + all.priorA) / (n + all.priorA + all.priorB);

  const states = anchors.map((anchor): RestartState => {
    const { node, mean, continuations: n } = anchor;
    const variance = mean === null ? null : Math.max(0, squares[node] - mean ** 2);
    return {
      ...anchor,
      learnability: variance ?? 0.25,
      sampleVariance: variance === null || n < 2 ? null : (variance * n) / (n - 1),
      mixed: mixedOutcomes(smoothed(anchor), size),
      novelty: 1 / Math.sqrt(n + 1),
      leadsToSuccess: highest[node] > 0,
      tried: tried[node],
      exploreWeight: all.seenWeight / (n + 1) ** all.power + all.chosenWeight / (anchor.started + 1) ** all.power,
    };
  });
  const ranked = states.toSorted((a, b) => (Math.abs(a.mixed - b.mixed) > 1e-12 ? b.mixed - a.mixed : b.novelty - a.novelty)); // prettier-ignore
  return { states: ranked, prefixes: prefixAdvice(trajectories, outcome, anchors, tree, smoothed, all) };
}

/** For every success of a hard prompt: the shortest prefix from which success is neither rare nor sure. */
function prefixAdvice(
  { ids, groups, groupOf }: TrajectoryBatch,
  outcome: NumericValues,
  anchors: readonly Anchor[],
  { parentNode, endNode }: { readonly parentNode: Int32Array; readonly endNode: Int32Array },
  smoothed: (anchor: Anchor) => number,
  { hardBelow, low, high }: RestartParams,
): PrefixAdvice[] {
  const anchorAt = new Map(anchors.map((anchor) => [anchor.node, anchor]));
  return ids.flatMap((trajectory, i) => {
    const prompt = anchorAt.get(groupOf[i])!;
    if (!(outcome[i] > 0) || prompt.mean === null || prompt.mean > hardBelow) return [];
    const path: Anchor[] = [];
    for (let n = endNode[i]; parentNode[n] >= 0; n = parentNode[n]) {
      const anchor = anchorAt.get(n);
      if (anchor) path.unshift(anchor);
    }
    const found = path.find((anchor) => smoothed(anchor) >= low && smoothed(anchor) <= high);
    const mean = found ? smoothed(found) : null;
    return [{ group: groups[groupOf[i]], promptMean: prompt.mean, trajectory, prefixTurns: found?.depth ?? null, mean, lift: mean === null ? null : mean - prompt.mean }]; // prettier-ignore
  });
}
