import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { pearson, quantiles } from '#lib/numeric';
import { z } from 'zod';
import { NO_VARIANCE, pooledCovariance } from '../covariance.js';
import type { Measured, Values } from '../diagnostic.js';
import { groupRows, mean, successOf } from '../groups.js';
import { leastSquares } from '../least-squares.js';
import { tokensOfTrajectories } from '../lengths.js';
import { counted, figure, percent } from '../sentences.js';
import { stepwise, type StepMeasure } from '../stepwise.js';

/**
 * Whether the reward follows length. ℓ: tokens that the policy generated, R: outcome.
 *
 *     pooledWithinCorrelation  ΣΣ (ℓ − ℓ̄_g)(R − R̄_g) / sqrt(ΣΣ (ℓ − ℓ̄_g)² · ΣΣ (R − R̄_g)²)
 *     perGroup                 the same inside each group of two
 *     between                  Pearson over all trajectories: what group-relative credit does not see
 *     truncatedShare           share with ℓ ≥ maxTokens; where there is no such limit, with the flag `truncated`
 *
 * Trajectories without a length or an outcome take no part. Source: truncated share as verl's clip_ratio; the rest ours.
 *
 * @param maxTokens null: not known
 */
export function lengthReward(trajectories: TrajectoryBatch, maxTokens: number | null) {
  const length = tokensOfTrajectories(trajectories);
  const reward = numbers(trajectories, 'trajectory.outcomeReward') ?? new Float64Array(length.length).fill(NaN);
  const success = successOf(trajectories);
  const groups = groupRows(trajectories).map(({ name, rows }) => ({
    name,
    rows: rows.filter((row) => !Number.isNaN(length[row]) && !Number.isNaN(reward[row])),
  }));
  // Σ and not the mean of a group: a large group counts more
  const weighted = groups.map(({ rows }) => ({ rows, n: rows.length }));
  const total = (x: Float64Array | Float32Array, y: Float64Array | Float32Array) =>
    weighted.reduce((sum, { rows, n }) => sum + (n > 0 ? n * pooledCovariance(x, y, [{ rows }]) : 0), 0);
  const [lengths, rewards] = [total(length, length), total(reward, reward)];
  const isFlat = !(lengths > NO_VARIANCE && rewards > NO_VARIANCE);
  const meanLength = (is: number) =>
    mean(Array.from(length).filter((value, row) => !Number.isNaN(value) && success[row] === is));
  const known = Array.from(length).filter((value) => !Number.isNaN(value));
  const isCut = numbers(trajectories, 'trajectory.truncated');
  const cut = isCut ? Array.from(isCut, (flag) => Number(flag > 0)) : [];
  return {
    pooledWithinCorrelation: isFlat ? null : total(length, reward) / Math.sqrt(lengths * rewards),
    perGroup: groups.filter(({ rows }) => rows.length >= 2).map(({ rows }) => said(pearsonAt(length, reward, rows))),
    between: said(pearson(length, reward)),
    meanLengthSuccess: meanLength(1),
    meanLengthFailure: meanLength(0),
    truncatedShare: maxTokens === null ? mean(cut) : mean(known.map((value) => Number(value >= maxTokens))),
  };
}

const said = (value: number) => (Number.isNaN(value) ? null : value);

function pearsonAt(x: Float64Array, y: Float64Array | Float32Array, rows: readonly number[]): number {
  const at = (values: Float64Array | Float32Array) => Float64Array.from(rows, (row) => values[row]);
  return pearson(at(x), at(y));
}

/** Of the tasks that at most half of the rollouts solve: how long their successes are, and how often one of two succeeds. */
function hardTasks(trajectories: TrajectoryBatch) {
  const length = tokensOfTrajectories(trajectories);
  const success = successOf(trajectories);
  const hard = groupRows(trajectories)
    .map(({ rows }) => rows.filter((row) => !Number.isNaN(success[row])))
    .map((rows) => ({ rows, n: rows.length, c: rows.reduce((sum, row) => sum + success[row], 0) }))
    .filter(({ n, c }) => n >= 2 && c <= n / 2);
  const lengths = hard.flatMap(({ rows }) => rows.filter((row) => success[row] === 1).map((row) => length[row]));
  const [longest] = quantiles(Float64Array.from(lengths), [0.9]);
  return {
    hardSuccessLengthP90: said(longest),
    hardPassAt2: mean(hard.map(({ n, c }) => 1 - ((n - c) * (n - c - 1)) / (n * (n - 1)))),
  };
}

/** First training steps whose long successes are the yardstick of a collapse, and last ones whose trend is fitted. */
const FIRST_STEPS = 5;
const TREND_STEPS = 20;
const MINIMUM = 32;

export const lengthRewardDiagnostic = stepwise({
  id: 'length-reward',
  version: 1,
  title: 'Reward and length',
  question: 'Does the reward follow length rather than the task?',
  remedy:
    'Normalise by tokens and not by sequence, shape overlong answers softly (DAPO), give hard tasks a larger budget (HBPO).',
  headline: 'pooledWithinCorrelation',
  level: 'group',
  status: 'own',
  source: 'truncated share: verl metric_utils.py (clip_ratio); collapse: HBPO; correlations ours',
  requires: ['trajectory.outcomeReward'],
  accepts: ['turn.tokenCount', 'trajectory.tokenCount', 'token.mask', 'trajectory.truncated', 'trajectory.success'],
  metrics: [],
  params: z.strictObject({
    maxTokens: z
      .int()
      .positive()
      .nullable()
      .default(null)
      .describe('limit of a trajectory; null: the flag `truncated`'),
  }),
  thresholds: z.strictObject({
    correlation: z.number().min(0).max(1).default(0.5).describe('within groups, either sign: beyond it a warning'),
    truncated: z.number().min(0).max(1).default(0.1).describe('share of truncated trajectories: a warning'),
    collapse: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('of the first lengths of hard successes: less is critical'),
  }),

  measure({ trajectories }, { maxTokens }) {
    const { perGroup: _, pooledWithinCorrelation: within, ...values } = lengthReward(trajectories, maxTokens);
    if (trajectories.ids.length === 0) return null;
    const isLengthKnown = tokensOfTrajectories(trajectories).some((length) => !Number.isNaN(length));
    const unknown = 'needs turn.tokenCount or tokens';
    const flat = isLengthKnown ? 'lengths or outcomes do not differ inside any group' : unknown;
    return {
      values: {
        pooledWithinCorrelation: within,
        withinCorrelationSize: within === null ? null : Math.abs(within),
        ...values,
        ...hardTasks(trajectories),
      },
      reasons: {
        pooledWithinCorrelation: flat,
        withinCorrelationSize: flat,
        between: isLengthKnown ? 'lengths or outcomes do not differ' : unknown,
        meanLengthSuccess: isLengthKnown ? 'nothing succeeded' : unknown,
        meanLengthFailure: isLengthKnown ? 'nothing failed' : unknown,
        truncatedShare: 'needs the param maxTokens or the flag trajectory.truncated',
        hardSuccessLengthP90: isLengthKnown ? 'no task is solved by up to half of its rollouts' : unknown,
        lengthCollapseRatio: 'needs successes on hard tasks in the first five training steps and in a later one',
        hardPassAt2Slope: 'needs hard tasks on two training steps',
        hardPassAt2: 'every task of two rollouts is solved by more than half of them',
      },
      observations: trajectories.ids.length,
    };
  },

  inContext: collapse,

  sentence({ pooledWithinCorrelation, between, meanLengthSuccess, meanLengthFailure }) {
    if (pooledWithinCorrelation === null) return 'length and outcome cannot be compared inside any group';
    const lengths =
      meanLengthSuccess === null || meanLengthFailure === null
        ? ''
        : `; successes take ${counted(meanLengthSuccess, 'token')}, failures ${figure(meanLengthFailure)}`;
    return `inside a group length and outcome correlate with ${figure(pooledWithinCorrelation)}, over all with ${figure(between ?? 0)}${lengths}`;
  },

  rules: ({ correlation, truncated, collapse }) => [
    {
      id: 'length-collapse',
      level: 'critical',
      all: [
        { value: 'lengthCollapseRatio', op: '<', limit: collapse },
        { value: 'hardPassAt2Slope', op: '<', limit: 0 },
      ],
      minimum: MINIMUM,
      says: `long successes on hard tasks have become shorter than ${percent(collapse)} of what they were, and hard tasks are solved less often`,
    },
    {
      id: 'length-is-reward',
      level: 'warn',
      all: [{ value: 'withinCorrelationSize', op: '>', limit: correlation }],
      minimum: MINIMUM,
      says: `inside groups the outcome correlates with length by more than ${correlation}`,
    },
    {
      id: 'truncated',
      level: 'warn',
      all: [{ value: 'truncatedShare', op: '>', limit: truncated }],
      minimum: MINIMUM,
      says: `more than ${percent(truncated)} of the trajectories are cut off`,
    },
  ],
});

/** Length and success on hard tasks against the first training steps, by step. */
function collapse(steps: readonly Measured<StepMeasure>[]): Values[] {
  const lengthOf = ({ figures }: Measured<StepMeasure>) => figures.values['hardSuccessLengthP90'];
  const first = mean(steps.slice(0, FIRST_STEPS).flatMap((step) => lengthOf(step) ?? []));
  return steps.map((step, i) => {
    const now = lengthOf(step);
    const recent = steps.slice(Math.max(0, i + 1 - TREND_STEPS), i + 1).flatMap(({ trainingStep, figures }) => {
      const rate = figures.values['hardPassAt2'];
      return rate === null ? [] : [{ trainingStep, rate }];
    });
    const trend = leastSquares(
      recent.map(({ trainingStep }) => trainingStep),
      recent.map(({ rate }) => rate),
    );
    return {
      lengthCollapseRatio: i < FIRST_STEPS || !first || now === null ? null : now / first,
      hardPassAt2Slope: trend?.slope ?? null,
    };
  });
}
