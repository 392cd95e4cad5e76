import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { mean } from '../groups.js';
import { figure, percent } from '../sentences.js';

interface GroupSpread {
  readonly name: string;
  readonly std: number;
  readonly max: number;
  readonly mean: number;
}

/**
 * How far outcomes differ inside a group: RAGEN's filter statistics, over groups of two outcomes or more.
 *
 *     inGroupStd, inGroupMax, inGroupMean   means over groups of sample std, maximum and mean of R
 *     kept…                                 the same over the ⌊keepRatio · groups⌋ groups with the largest std
 *
 * Source: RAGEN-AI/RAGEN, _filter_rollout (StarPO-S).
 *
 * @param keepRatio 0 … 1
 */
export function inGroupSpread(trajectories: TrajectoryBatch, keepRatio: number) {
  const groups = spreads(trajectories);
  const kept = groups.toSorted((a, b) => b.std - a.std).slice(0, Math.floor(keepRatio * groups.length));
  const keptNames = new Set(kept.map(({ name }) => name));
  return {
    groups: groups.length,
    inGroupStd: mean(groups.map(({ std }) => std)),
    inGroupMax: mean(groups.map(({ max }) => max)),
    inGroupMean: mean(groups.map((group) => group.mean)),
    keptGroups: groups.map(({ name }) => name).filter((name) => keptNames.has(name)),
    keptInGroupStd: mean(kept.map(({ std }) => std)),
    keptInGroupMax: mean(kept.map(({ max }) => max)),
    keptInGroupMean: mean(kept.map((group) => group.mean)),
  };
}

function spreads(trajectories: TrajectoryBatch): GroupSpread[] {
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  if (!reward) return [];
  const { groups, groupOf, groupCount } = trajectories;
  const scored = groupOf.map((group, i) => (Number.isNaN(reward[i]) ? -1 : group));
  const { weight, mean, std } = segmentMoments(reward, null, scored, groupCount);
  const max = new Float64Array(groupCount).fill(-Infinity);
  for (let i = 0; i < scored.length; i++) if (scored[i] >= 0) max[scored[i]] = Math.max(max[scored[i]], reward[i]);
  return [...weight.keys()]
    .filter((group) => weight[group] >= 2)
    .map((group) => ({ name: groups[group], std: std[group], max: max[group], mean: mean[group] }));
}

interface Figures {
  readonly groups: number;
  readonly std: number;
  readonly mean: number;
  readonly gradNorm: number | null;
}

/** A spike is this many robust deviations above the median of the steps before. */
const SPIKE = 6;
const SPIKE_WINDOW = 20;
const SPIKE_MINIMUM = 5;
/** of the median absolute deviation, for a normal distribution */
const TO_STD = 1.4826;

/** Behaviour inside a task becomes uniform before the score shows it (RAGEN's echo trap). */
export const inGroupSpreadDiagnostic = defineDiagnostic({
  id: 'in-group-spread',
  version: 1,
  title: 'Spread inside the groups',
  question: 'Is behaviour inside a task becoming uniform before the score shows it?',
  remedy:
    'Keep the half of the groups with the largest spread for the update (StarPO-S), raise the temperature, or go back to before the peak.',
  headline: 'inGroupStd',
  level: 'trainingStep',
  status: 'verified',
  source: 'RAGEN-AI/RAGEN _filter_rollout and section 4 of its paper; the smoothing is ours',
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  metrics: ['gradNorm'],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    smoothing: z.number().min(0).lt(1).default(0.9).describe('of the moving averages: how much of the past is kept'),
    drop: z.number().min(0).max(1).default(0.5).describe('below the peak of the spread: a warning'),
    nearPeak: z.number().min(0).max(1).default(0.05).describe('the reward counts as near its peak within this share'),
  }),

  measure({ trajectories, metrics }) {
    const { groups, inGroupStd, inGroupMean } = inGroupSpread(trajectories, 1);
    if (groups === 0) return null;
    return { groups, std: inGroupStd!, mean: inGroupMean!, gradNorm: metrics['gradNorm'] ?? null };
  },

  read(steps, { smoothing, nearPeak }) {
    const series = smoothed(steps, smoothing);
    const last = series.at(-1)!;
    const peak = steps.reduce((most, step) => (step.figures.std > most.figures.std ? step : most));
    return {
      values: {
        inGroupStd: last.std,
        dropFromPeak: last.dropFromPeak,
        meanOutcome: steps.at(-1)!.figures.mean,
      },
      reasons: {},
      sentence: `outcomes of one task differ by ${figure(last.std)} (smoothed), ${percent(last.dropFromPeak)} below the peak`,
      steps: steps.map(({ trainingStep, figures }, i) => ({
        trainingStep,
        values: {
          inGroupStd: figures.std,
          dropFromPeak: series[i].dropFromPeak,
          rewardNearPeak: series[i].meanDrop <= nearPeak ? 1 : 0,
          gradNormSpike: isSpike(steps, i) ? 1 : 0,
        },
        observations: figures.groups,
      })),
      evidence: [{ trainingStep: peak.trainingStep, note: `the largest spread, ${figure(peak.figures.std)}` }],
    };
  },

  rules: ({ drop }) => [
    {
      id: 'echo-trap',
      level: 'warn',
      all: [
        { value: 'dropFromPeak', op: '>=', limit: drop },
        { value: 'rewardNearPeak', op: '>=', limit: 1 },
      ],
      says: `the spread inside groups fell by ${percent(drop)} while the reward is still at its peak`,
    },
    {
      id: 'gradient-spike',
      level: 'critical',
      all: [{ value: 'gradNormSpike', op: '>=', limit: 1 }],
      minimum: 1,
      hold: { of: 1 },
      says: 'the gradient norm is far above the twenty steps before',
    },
  ],
});

function smoothed(steps: readonly Measured<Figures>[], smoothing: number) {
  let [std, mean, peakStd, peakMean] = [NaN, NaN, -Infinity, -Infinity];
  return steps.map(({ figures }) => {
    std = Number.isNaN(std) ? figures.std : smoothing * std + (1 - smoothing) * figures.std;
    mean = Number.isNaN(mean) ? figures.mean : smoothing * mean + (1 - smoothing) * figures.mean;
    peakStd = Math.max(peakStd, std);
    peakMean = Math.max(peakMean, mean);
    const meanDrop = peakMean === 0 ? 0 : (peakMean - mean) / Math.abs(peakMean);
    return { std, dropFromPeak: peakStd === 0 ? 0 : 1 - std / peakStd, meanDrop };
  });
}

function isSpike(steps: readonly Measured<Figures>[], at: number): boolean {
  const norm = steps[at].figures.gradNorm;
  const before = steps
    .slice(Math.max(0, at - SPIKE_WINDOW), at)
    .flatMap(({ figures }) => (figures.gradNorm === null ? [] : [figures.gradNorm]));
  if (norm === null || before.length < SPIKE_MINIMUM) return false;
  const median = medianOf(before);
  return norm > median + SPIKE * TO_STD * medianOf(before.map((value) => Math.abs(value - median)));
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
