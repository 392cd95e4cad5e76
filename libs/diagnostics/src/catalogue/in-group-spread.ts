import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { scratchInts, segmentMoments, type SegmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { mean } from '../groups.js';
import { median } from '../median.js';
import { figure, percent } from '../sentences.js';

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
  const { weight, std, mean: means } = outcomeMoments(trajectories);
  const max = greatestOutcomes(trajectories);
  const several = [...weight.keys()].filter((g) => weight[g] >= 2);
  const byStd = several.toSorted((a, b) => std[b] - std[a]);
  const kept = byStd.slice(0, Math.floor(keepRatio * several.length));
  const names = several.map((g) => trajectories.groups[g]);
  const keptNames = new Set(kept.map((g) => trajectories.groups[g]));
  return {
    groups: several.length,
    inGroupStd: mean(several.map((g) => std[g])),
    inGroupMax: mean(several.map((g) => max[g])),
    inGroupMean: mean(several.map((g) => means[g])),
    keptGroups: names.filter((name) => keptNames.has(name)),
    keptInGroupStd: mean(kept.map((g) => std[g])),
    keptInGroupMax: mean(kept.map((g) => max[g])),
    keptInGroupMean: mean(kept.map((g) => means[g])),
  };
}

const scoredGroups = scratchInts();

/** Of the outcomes of each group, which weigh how many there are. */
function outcomeMoments(trajectories: TrajectoryBatch): SegmentMoments {
  const { groupOf, groupCount } = trajectories;
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  const scored = scoredGroups(groupOf.length);
  for (let i = 0; i < scored.length; i++) scored[i] = reward === null || Number.isNaN(reward[i]) ? -1 : groupOf[i];
  return segmentMoments(reward ?? new Float64Array(0), null, scored, groupCount);
}

/** [groups] */
function greatestOutcomes(trajectories: TrajectoryBatch): Float64Array {
  const { groupOf, groupCount } = trajectories;
  const reward = numbers(trajectories, 'trajectory.outcomeReward') ?? new Float64Array(0);
  const greatest = new Float64Array(groupCount).fill(-Infinity);
  for (let i = 0; i < reward.length; i++) {
    if (reward[i] > greatest[groupOf[i]]) greatest[groupOf[i]] = reward[i];
  }
  return greatest;
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
  needs: 'a group of two outcomes',
  params: z.strictObject({}),
  thresholds: z.strictObject({
    smoothing: z.number().min(0).lt(1).default(0.9).describe('of the moving averages: how much of the past is kept'),
    drop: z.number().min(0).max(1).default(0.5).describe('below the peak of the spread: a warning'),
    nearPeak: z.number().min(0).max(1).default(0.05).describe('the reward counts as near its peak within this share'),
  }),

  measure({ trajectories, metrics }) {
    const moments = outcomeMoments(trajectories);
    let groups = 0;
    let std = 0;
    let means = 0;
    for (let g = 0; g < moments.weight.length; g++) {
      if (moments.weight[g] < 2) continue;
      groups++;
      std += moments.std[g];
      means += moments.mean[g];
    }
    return groups > 0
      ? { groups, std: std / groups, mean: means / groups, gradNorm: metrics['gradNorm'] ?? null }
      : null;
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
  const usual = median(before);
  return norm > usual + SPIKE * TO_STD * median(before.map((value) => Math.abs(value - usual)));
}
