import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { ridgeWeights, scratchDoubles, type Numbers } from '#lib/numeric';
import { z } from 'zod';
import { covariance, NO_VARIANCE, pooledCovariance } from '../covariance.js';
import { groupRows, type GroupRows } from '../groups.js';
import { oncePerBatch } from '../once-per-batch.js';
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
  const count = trajectories.ids.length;
  const weighted = components.map(({ name, weight }) => {
    const values = new Float64Array(count);
    readColumn(values, trajectories, name);
    for (let i = 0; i < count; i++) values[i] *= weight;
    return values;
  });
  const total = new Float64Array(count);
  for (const values of weighted) for (let i = 0; i < count; i++) total[i] += values[i];
  const groups = groupsOfTwo(trajectories);
  const totalVariance = pooledCovariance(total, total, groups);
  const own = weighted.map((values) => pooledCovariance(values, values, groups));
  const withTotal = weighted.map((values) => pooledCovariance(values, total, groups));
  return {
    groups: groups.length,
    share: withTotal.map((sum) => (totalVariance > NO_VARIANCE ? sum / totalVariance : null)),
    ownVariance: own.map((sum) => (groups.length > 0 ? sum / groups.length : null)),
    totalVariance: groups.length > 0 ? totalVariance / groups.length : null,
    deadGroupShare: weighted.map((values) => (groups.length > 0 ? deadGroups(values, groups) / groups.length : null)),
    correlationWithTotal: withTotal.map((sum, c) =>
      own[c] > NO_VARIANCE && totalVariance > NO_VARIANCE ? sum / Math.sqrt(own[c] * totalVariance) : null,
    ),
  };
}

const groupsOfTwo = oncePerBatch((trajectories: TrajectoryBatch): readonly GroupRows[] => {
  const found: GroupRows[] = [];
  for (const group of groupRows(trajectories)) if (group.rows.length >= 2) found.push(group);
  return found;
});

/** @param values [trajectories] is written to; what is not said is 0 */
function readColumn(values: Float64Array, trajectories: TrajectoryBatch, name: string): void {
  const said = numbers(trajectories, `trajectory.${name}`);
  for (let i = 0; i < values.length; i++) values[i] = said === null || Number.isNaN(said[i]) ? 0 : said[i];
}

/** Groups in which the values are constant. */
function deadGroups(values: Float64Array, groups: readonly GroupRows[]): number {
  let dead = 0;
  for (const { rows } of groups) if (!(covariance(values, values, rows) > NO_VARIANCE)) dead++;
  return dead;
}

/** A trajectory's number with such a name is taken for a part of its reward. */
const PART = /(reward|score|penalty|bonus|accuracy)$/i;
const MOST_PARTS = 12;
/** Share of the variance of R that fitted weights may leave unexplained. */
const UNEXPLAINED = 1e-6;

const columnOfPart = scratchDoubles();
const targetOfFit = scratchDoubles();
const designOfFit = scratchDoubles();

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
  const values = columnOfPart(trajectories.ids.length);
  const varying = parts.slice(0, MOST_PARTS).filter((name) => {
    readColumn(values, trajectories, name);
    return pooledCovariance(values, values, groups) > NO_VARIANCE;
  });
  if (varying.length === 0) return null;
  const rows = sizeOf(groups);
  const target = targetOfFit(rows);
  centre(reward, groups, target, 0, 1);
  const design = designOfFit(rows * varying.length);
  varying.forEach((name, c) => {
    readColumn(values, trajectories, name);
    centre(values, groups, design, c, varying.length);
  });
  const weights = ridgeWeights(design, target, varying.length, 1e-9);
  if (!isFit(design, target, weights)) return null;
  return varying.map((name, c) => ({ name, weight: weights[c] }));
}

function sizeOf(groups: readonly GroupRows[]): number {
  let members = 0;
  for (const { rows } of groups) members += rows.length;
  return members;
}

/**
 * Values less the mean of their group.
 *
 * @param centred [members of the groups, group after group × sides] of which `side` is written to
 */
function centre(values: Numbers, groups: readonly GroupRows[], centred: Float64Array, side: number, sides: number) {
  let at = side;
  for (const { rows } of groups) {
    let sum = 0;
    for (let k = 0; k < rows.length; k++) sum += values[rows[k]];
    const middle = sum / rows.length;
    for (let k = 0; k < rows.length; k++, at += sides) centred[at] = values[rows[k]] - middle;
  }
}

/** @param design [rows × weights] */
function isFit(design: Float64Array, target: Float64Array, weights: Float64Array): boolean {
  let missed = 0;
  let spread = 0;
  for (let i = 0; i < target.length; i++) {
    let fit = 0;
    for (let c = 0; c < weights.length; c++) fit += weights[c] * design[i * weights.length + c];
    missed += (target[i] - fit) ** 2;
    spread += target[i] * target[i];
  }
  return missed <= UNEXPLAINED * spread;
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
