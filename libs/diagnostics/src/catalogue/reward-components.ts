import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { ridgeWeights, type Numbers } from '#lib/numeric';
import { z } from 'zod';
import { covariance, NO_VARIANCE, pooledCovariance } from '../covariance.js';
import { groupRows, mean, type GroupRows } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** A part of the reward: a trajectory's number, and how often it counts. */
export interface RewardComponent {
  readonly name: string;
  readonly weight: number;
}

/**
 * Which part of a reward R = Σ w_c r_c moves the policy, over groups of two.
 *
 *     share_c        Σ_g Cov(w_c r_c, R) / Σ_g Var(R)      population forms; they add up to 1, below 0: works against the sum
 *     ownVariance_c  mean over groups of Var(w_c r_c)
 *     deadGroupShare_c         groups in which it is constant
 *     correlationWithTotal_c   Σ_g Cov / sqrt(Σ_g Var(w_c r_c) · Σ_g Var(R))
 *
 * A trajectory that lacks a component counts it as 0. Source: ours.
 *
 * @returns [components] in the order given
 */
export function rewardComponents(trajectories: TrajectoryBatch, components: readonly RewardComponent[]) {
  const weighted = components.map(({ name, weight }) => column(trajectories, name).map((value) => weight * value));
  const total = new Float64Array(trajectories.ids.length);
  for (const values of weighted) for (let i = 0; i < total.length; i++) total[i] += values[i];
  const groups = groupsOfTwo(trajectories);
  const totalVariance = pooledCovariance(total, total, groups);
  const inGroups = weighted.map((values) => groups.map(({ rows }) => covariance(values, values, rows)));
  const own = inGroups.map((variances) => variances.reduce((sum, variance) => sum + variance, 0));
  const withTotal = weighted.map((values) => pooledCovariance(values, total, groups));
  return {
    groups: groups.length,
    share: withTotal.map((sum) => (totalVariance > NO_VARIANCE ? sum / totalVariance : null)),
    ownVariance: own.map((sum) => (groups.length > 0 ? sum / groups.length : null)),
    totalVariance: groups.length > 0 ? totalVariance / groups.length : null,
    deadGroupShare: inGroups.map((variances) => mean(variances.map((variance) => (variance > NO_VARIANCE ? 0 : 1)))),
    correlationWithTotal: withTotal.map((sum, c) =>
      own[c] > NO_VARIANCE && totalVariance > NO_VARIANCE ? sum / Math.sqrt(own[c] * totalVariance) : null,
    ),
  };
}

const groupsOfTwo = (trajectories: TrajectoryBatch) => groupRows(trajectories).filter(({ rows }) => rows.length >= 2);

/** [trajectories] a fresh array; what is not said is 0 */
function column(trajectories: TrajectoryBatch, name: string): Float64Array {
  const said = numbers(trajectories, `trajectory.${name}`);
  const values = new Float64Array(trajectories.ids.length);
  if (said) for (let i = 0; i < values.length; i++) values[i] = Number.isNaN(said[i]) ? 0 : said[i];
  return values;
}

/** A trajectory's number with such a name is taken for a part of its reward. */
const PART = /(reward|score|penalty|bonus|accuracy)$/i;
const MOST_PARTS = 12;
/** Share of the variance of R that fitted weights may leave unexplained. */
const UNEXPLAINED = 1e-6;

/**
 * The weights with which recorded parts make up the outcome inside groups, by least squares; null: they do not.
 * Parts that are constant inside every group cannot be told and weigh nothing.
 */
export function fittedComponents(trajectories: TrajectoryBatch): RewardComponent[] | null {
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  const groups = groupsOfTwo(trajectories);
  if (!reward || groups.length === 0) return null;
  const parts = [...trajectories.columns].flatMap(([path, { kind }]) => {
    if (kind !== 'number' || !path.startsWith('trajectory.')) return [];
    const [, name] = path.split('.', 2);
    return name !== 'outcomeReward' && PART.test(name) ? [name] : [];
  });
  const varying = parts
    .slice(0, MOST_PARTS)
    .map((name) => ({ name, values: column(trajectories, name) }))
    .filter(({ values }) => pooledCovariance(values, values, groups) > NO_VARIANCE);
  if (varying.length === 0) return null;
  const sides = varying.map(({ values }) => centred(values, groups));
  const target = centred(reward, groups);
  const design = sideBySide(sides, target.length);
  const weights = ridgeWeights(design, target, sides.length, 1e-9);
  let [missed, spread] = [0, 0];
  for (let i = 0; i < target.length; i++) {
    let fit = 0;
    for (let c = 0; c < sides.length; c++) fit += weights[c] * sides[c][i];
    missed += (target[i] - fit) ** 2;
    spread += target[i] * target[i];
  }
  if (!(missed <= UNEXPLAINED * spread)) return null;
  return varying.map(({ name }, c) => ({ name, weight: weights[c] }));
}

/** [members of the groups, group after group] less the mean of the group */
function centred(values: Numbers, groups: readonly GroupRows[]): Float64Array {
  const found = new Float64Array(groups.reduce((sum, { rows }) => sum + rows.length, 0));
  let at = 0;
  for (const { rows } of groups) {
    let sum = 0;
    for (let k = 0; k < rows.length; k++) sum += values[rows[k]];
    const middle = sum / rows.length;
    for (let k = 0; k < rows.length; k++) found[at++] = values[rows[k]] - middle;
  }
  return found;
}

/** [rows × sides] */
function sideBySide(sides: readonly Float64Array[], rows: number): Float64Array {
  const design = new Float64Array(rows * sides.length);
  for (let c = 0; c < sides.length; c++) {
    for (let i = 0; i < rows; i++) design[i * sides.length + c] = sides[c][i];
  }
  return design;
}

const EVIDENCE_PER_STEP = 2;
const NO_SUM = 'the recorded parts do not add up to outcomeReward: say their weights';

export const rewardComponentsDiagnostic = stepwise({
  id: 'reward-components',
  version: 1,
  title: 'Parts of the reward',
  question: 'Which part of the reward moves the policy, and which is drowned by the others?',
  remedy:
    'A part matters by its share of the variance inside groups, not by its weight: scale it, or give it an advantage of its own (HDPO).',
  headline: 'greatestShare',
  level: 'group',
  status: 'own',
  source: 'covariance decomposition of the variance inside groups, ours',
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  metrics: [],
  needs: 'a group of two outcomes',
  params: z.strictObject({
    weights: z
      .record(z.string(), z.number())
      .default({})
      .describe(
        'by trajectory signal; none: the numbers called …Reward, …Score, …Penalty, …Bonus or …Accuracy, with fitted weights',
      ),
  }),
  thresholds: z.strictObject({
    silenced: z.number().default(0.02).describe('share of a part with a weight: less is a warning'),
    dominant: z.number().default(0.9).describe('share of one part among several: more is a warning'),
    opposing: z.number().default(-0.2).describe('share of a part: less is critical'),
  }),

  measure({ trajectories }, { weights }) {
    const said = Object.entries(weights).map(([name, weight]) => ({ name, weight }));
    const components = said.length > 0 ? said : fittedComponents(trajectories);
    const groups = groupsOfTwo(trajectories).length;
    if (groups === 0) return null;
    const { share, totalVariance } = components
      ? rewardComponents(trajectories, components)
      : { share: [], totalVariance: null };
    const parts = (components ?? []).flatMap(({ name, weight }, c) => {
      const part = share[c];
      return weight === 0 || part === null ? [] : [{ name, share: part }];
    });
    const shares = parts.map((part) => part.share);
    const several = shares.length > 1;
    const why = components ? (several ? 'the reward does not differ inside any group' : 'needs two parts') : NO_SUM;
    return {
      values: {
        greatestShare: several ? Math.max(...shares) : null,
        leastShare: several ? Math.min(...shares) : null,
        parts: parts.length,
        totalVariance,
        ...Object.fromEntries(parts.map((part) => [`share:${part.name}`, part.share])),
      },
      reasons: { greatestShare: why, leastShare: why, totalVariance: why },
      observations: groups,
      evidence: parts
        .toSorted((a, b) => a.share - b.share)
        .slice(0, several ? EVIDENCE_PER_STEP : 0)
        .map((part) => ({ note: `${part.name} has ${percent(part.share)} of the variance`, weight: -part.share })),
    };
  },

  sentence(values) {
    const parts = Object.entries(values)
      .flatMap(([name, share]) => (name.startsWith('share:') && share !== null ? [{ name: name.slice(6), share }] : []))
      .sort((a, b) => b.share - a.share);
    if (parts.length < 2) return 'the reward is not known to have several parts';
    return `inside groups the reward's variance is ${parts.map(({ name, share }) => `${percent(share)} ${name}`).join(', ')}`;
  },

  rules: ({ silenced, dominant, opposing }) => [
    {
      id: 'opposing-part',
      level: 'critical',
      all: [{ value: 'leastShare', op: '<', limit: opposing }],
      says: `one part of the reward works against the sum, with a share below ${percent(opposing)}`,
    },
    {
      id: 'silenced-part',
      level: 'warn',
      all: [{ value: 'leastShare', op: '<', limit: silenced }],
      says: `one part of the reward has less than ${percent(silenced)} of the variance inside groups`,
    },
    {
      id: 'dominant-part',
      level: 'warn',
      all: [{ value: 'greatestShare', op: '>', limit: dominant }],
      says: `one part has more than ${percent(dominant)} of the reward's variance inside groups; the others decorate`,
    },
  ],
});
