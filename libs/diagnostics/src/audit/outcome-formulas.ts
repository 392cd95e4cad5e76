import { segmentMoments } from '#lib/numeric';

/** What an outcome formula reads of one training step: one row per trajectory. */
export interface Outcomes {
  /** [trajectories] the reward of record: after every shaping the trainer adds before the advantage */
  readonly reward: Float64Array;
  /** [trajectories] */
  readonly groupOf: Int32Array;
  readonly groupCount: number;
  /** [trajectories] */
  readonly turns: Float64Array;
  /** [trajectories] 1: the trainer dropped the row from its update; null: no row says so */
  readonly excluded: Float64Array | null;
}

/** A way to make an advantage of outcomes, and why a trainer might have used it. */
export interface OutcomeFormula {
  readonly id: string;
  readonly cause: string;
  /** null: says nothing of such a step */
  readonly advantage: (outcomes: Outcomes) => Float64Array | null;
}

const EPSILON = 1e-6;

interface Normalisation {
  /** [rows] the sample: which rows count, and how often */
  readonly weight?: Float64Array | null;
  readonly segmentOf: Int32Array;
  readonly segmentCount: number;
  readonly ddof?: 0 | 1;
  readonly epsilon?: number;
  readonly singleton?: 'raw' | 'zero';
  readonly normalizeByStd?: boolean;
}

/** (x − mean) / (std + epsilon) within segments; a segment of one keeps its value / (1 + epsilon), or gets 0. */
function normalised(x: Float64Array, options: Normalisation): Float64Array {
  const { weight = null, segmentOf, segmentCount, ddof = 1, epsilon = EPSILON, singleton = 'raw' } = options;
  const byStd = options.normalizeByStd ?? true;
  const moments = segmentMoments(x, weight, segmentOf, segmentCount, ddof);
  return x.map((value, i) => {
    const s = segmentOf[i];
    if (weight?.[i] === 0) return 0;
    if (moments.weight[s] === 1) return singleton === 'zero' ? 0 : byStd ? value / (1 + epsilon) : value;
    if (moments.std[s] === 0) return 0;
    return byStd ? (value - moments.mean[s]) / (moments.std[s] + epsilon) : value - moments.mean[s];
  });
}

const byGroup = ({ groupOf, groupCount }: Outcomes) => ({ segmentOf: groupOf, segmentCount: groupCount });
const asOneGroup = ({ reward }: Outcomes) => ({ segmentOf: new Int32Array(reward.length), segmentCount: 1 });

/** Blocks of the commonest group size in the order of the file: what a fixed stride does to partial groups. */
function byStride({ groupOf, groupCount }: Outcomes) {
  const sizes = new Int32Array(groupCount);
  for (const group of groupOf) sizes[group]++;
  const counts = new Map<number, number>();
  for (const size of sizes) if (size > 0) counts.set(size, (counts.get(size) ?? 0) + 1);
  const [[commonest]] = [...counts].sort(([a, countA], [b, countB]) => countB - countA || b - a);
  const segmentOf = groupOf.map((_, i) => Math.floor(i / commonest));
  return { segmentOf, segmentCount: Math.ceil(groupOf.length / commonest) };
}

function batchSpread({ reward }: Outcomes): number {
  return segmentMoments(reward, null, new Int32Array(reward.length), 1).std[0];
}

/** Centred by the mean of the others of the group; alone, the reward itself. */
function leaveOneOut(outcomes: Outcomes): Float64Array {
  const { reward, groupOf } = outcomes;
  const { weight, mean, std } = segmentMoments(reward, null, groupOf, outcomes.groupCount);
  return reward.map((value, i) => {
    const n = weight[groupOf[i]];
    if (n === 1) return value;
    return std[groupOf[i]] === 0 ? 0 : ((value - mean[groupOf[i]]) * n) / (n - 1);
  });
}

function withoutExcluded(outcomes: Outcomes, entersStatistics: boolean): Float64Array | null {
  const { reward, excluded } = outcomes;
  if (!excluded?.includes(1)) return null;
  const kept = excluded.map((flag) => (flag === 1 ? 0 : 1));
  const advantage = normalised(reward, { ...byGroup(outcomes), weight: entersStatistics ? null : kept });
  return advantage.map((value, i) => value * kept[i]);
}

const grpo = (outcomes: Outcomes) => normalised(outcomes.reward, byGroup(outcomes));

/**
 * The formulas an outcome advantage is held against, in the order in which an explanation is looked for. Unless said
 * otherwise: per group, sample spread, epsilon 1e-6 outside the root, a group of one keeps its reward.
 */
export const OUTCOME_FORMULAS: readonly OutcomeFormula[] = [
  { id: 'grpo', cause: 'the standard group-relative advantage', advantage: grpo },
  {
    id: 'grpo-zero-singleton',
    cause: "another framework's rule: a group of one gets 0",
    advantage: (outcomes) => normalised(outcomes.reward, { ...byGroup(outcomes), singleton: 'zero' }),
  },
  {
    id: 'grpo-population-std',
    cause: 'a library switch: the spread is divided by n, not n − 1',
    advantage: (outcomes) => normalised(outcomes.reward, { ...byGroup(outcomes), ddof: 0 }),
  },
  {
    id: 'grpo-epsilon-1e-4',
    cause: "a library switch: TRL's epsilon",
    advantage: (outcomes) => normalised(outcomes.reward, { ...byGroup(outcomes), epsilon: 1e-4 }),
  },
  {
    id: 'no-std',
    cause: 'not divided by the spread (Dr. GRPO), or the flag for it has no effect',
    advantage: (outcomes) => normalised(outcomes.reward, { ...byGroup(outcomes), normalizeByStd: false }),
  },
  { id: 'rloo', cause: 'centred by the mean of the others', advantage: leaveOneOut },
  { id: 'no-baseline', cause: 'the reward itself: nothing was subtracted', advantage: ({ reward }) => reward },
  {
    id: 'batch-normalised',
    cause: 'statistics over the whole batch instead of the group',
    advantage: (outcomes) => normalised(outcomes.reward, asOneGroup(outcomes)),
  },
  {
    id: 'group-mean-batch-std',
    cause: 'centred by the group, divided by the spread of the batch (Lite PPO)',
    advantage: (outcomes) => {
      const centred = normalised(outcomes.reward, { ...byGroup(outcomes), normalizeByStd: false, singleton: 'zero' });
      const spread = batchSpread(outcomes);
      return centred.map((value) => value / (spread + EPSILON));
    },
  },
  {
    id: 'turn-weighted-statistics',
    cause: 'every reward counts once per turn: statistics over step rows',
    advantage: (outcomes) => normalised(outcomes.reward, { ...byGroup(outcomes), weight: outcomes.turns }),
  },
  {
    id: 'whitened-after',
    cause: 'normalised twice: by the group, then over the batch',
    advantage: (outcomes) => normalised(grpo(outcomes), { ...asOneGroup(outcomes), epsilon: 1e-8 }),
  },
  {
    id: 'stride-groups',
    cause: 'groups cut by a fixed stride: a partial group shifts all that follow',
    advantage: (outcomes) => normalised(outcomes.reward, byStride(outcomes)),
  },
  {
    id: 'one-group',
    cause: 'the group id was lost: all rows are one group',
    advantage: (outcomes) => normalised(outcomes.reward, asOneGroup(outcomes)),
  },
  {
    id: 'excluded-left-out',
    cause: 'excluded rows get 0 and do not enter the baseline',
    advantage: (outcomes) => withoutExcluded(outcomes, false),
  },
  {
    id: 'excluded-in-baseline',
    cause: 'excluded rows get 0 but move the baseline of the others',
    advantage: (outcomes) => withoutExcluded(outcomes, true),
  },
];
