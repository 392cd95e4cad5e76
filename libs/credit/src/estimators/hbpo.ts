import type { NumericValues } from '#lib/dataset';
import { pairLabels, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled, type Singleton } from '../group-scores.js';

const HbpoParams = z.strictObject({
  variant: z
    .enum(['paper', 'released'])
    .default('paper')
    .describe("the paper's formulas, or what the code does, with its own constants ('released')"),
  maxResponseLength: z
    .number()
    .positive()
    .default(4096)
    .describe('paper: longest response that can be right, in tokens'),
  overBudgetPenalty: z
    .number()
    .nonnegative()
    .default(0.0001)
    .describe('paper: loss per token over the budget (alpha); its size is not stated'),
  rewardScale: z.number().default(1).describe('paper: reward of an empty right answer (beta); its size is not stated'),
  ddof: z
    .union([z.literal(0), z.literal(1)])
    .default(0)
    .describe("paper: of the group's spread, 0 population, 1 sample; not stated"),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("released: a group of one keeps its reward ('raw') or gets 0 ('zero'); the paper's form gives 0 there"),
});
type Params = z.infer<typeof HbpoParams>;

/** Constants of the code: its pi, twice its length limit, its reward scale and its length limit. */
const RELEASED = { pi: 31_416 / 10_000, period: 8192, scale: 4, length: 4096 };

/** What a budget of so many tokens promises: f(x) = β cos(π x / 2 Lmax). */
function promise(tokens: number, { variant, rewardScale, maxResponseLength }: Params): number {
  if (variant === 'released') return RELEASED.scale * Math.cos((RELEASED.pi * tokens) / RELEASED.period);
  return rewardScale * Math.cos((Math.PI * tokens) / (2 * maxResponseLength));
}

/**
 * Reward of a response of n tokens that was given the budget b.
 *
 *     paper:     f(n) − α (n − b) where right and b < n ≤ Lmax;  f(b) where right and n ≤ b;  0 where wrong or n > Lmax
 *     released:  min(f(n) − |b − n| / 4096, f(b)) where right;  −1 for a bad format (R < 0), 0 where wrong
 */
export function budgetedReward(outcome: number, budget: number, tokens: number, params: Params): number {
  if (params.variant === 'released') {
    if (!(outcome > 0)) return outcome < 0 ? -1 : 0;
    const distance = Math.abs(budget - tokens) / RELEASED.length;
    return Math.min(promise(tokens, params) - distance, promise(budget, params));
  }
  if (!(outcome > 0) || tokens > params.maxResponseLength) return 0;
  if (tokens <= budget) return promise(budget, params);
  return promise(tokens, params) - params.overBudgetPenalty * (tokens - budget);
}

/** A number for every distinct value, NaN aside, from 0 in order of first appearance. */
function labelsOf(values: NumericValues): Int32Array {
  const labels = new Map<number, number>();
  return Int32Array.from(values, (value) => {
    const label = labels.get(value) ?? labels.size;
    labels.set(value, label);
    return label;
  });
}

/**
 * HBPO: rollouts of a task get different length budgets; each budget is compared with what it promises, each rollout with
 * the group.
 *
 *     intra[i] = mean of the rewards with the same task and budget − f(budget)
 *     inter[i] = (r[i] − mean_g r) / (std_g r + ε)
 *     A[i] = intra[i] + inter[i]      released: intra twice, and 0 in a group of one
 */
export const hbpo = defineEstimator({
  id: 'hbpo',
  version: 1,
  title: 'Hierarchical length budgets (HBPO)',
  citation: { paper: 'arXiv:2507.15844', code: 'ZJU-REAL/HBPO:verl/trainer/ppo/core_algos.py@5c8991d' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.tokenBudget', 'trajectory.tokenCount'],
  accepts: [],
  params: HbpoParams,
  estimate({ groupOf, groupCount }, columns, params) {
    const isReleased = params.variant === 'released';
    const { 'trajectory.tokenBudget': budget, 'trajectory.tokenCount': tokens } = columns;
    const reward = Float64Array.from(columns['trajectory.outcomeReward'], (outcome, i) =>
      budgetedReward(outcome, budget[i], tokens[i], params),
    );
    const promised = Float64Array.from(budget, (b) => promise(b, params));

    const sub = pairLabels(groupOf, labelsOf(budget));
    const subMean = segmentMoments(reward, null, sub.labels, sub.count).mean;
    const moments = segmentMoments(reward, null, groupOf, groupCount, isReleased ? 1 : params.ddof);
    const isAlone = (i: number) => isReleased && moments.weight[groupOf[i]] === 1;
    const intra = promised.map((value, i) => (isAlone(i) ? 0 : subMean[sub.labels[i]] - value));
    const singleton: Singleton = isReleased ? params.singleton : 'zero';
    const inter = scaled(centred(reward, groupOf, moments, singleton), groupOf, moments, params.epsilon);

    const level = 'trajectory';
    return {
      level,
      values: inter.map((value, i) => value + (isReleased ? 2 : 1) * intra[i]),
      explain: {
        trajectoryReward: { level, values: reward },
        budgetReward: { level, values: promised },
        intraAdvantage: { level, values: intra },
        interAdvantage: { level, values: inter },
      },
    };
  },
});
