import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { mean } from '../groups.js';
import { median } from '../median.js';
import { figure, percent } from '../sentences.js';

/** [groups of two outcomes or more] each */
interface Spreads {
  readonly names: readonly string[];
  readonly std: readonly number[];
  readonly max: readonly number[];
  readonly mean: readonly number[];
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
  const { names, std, max, mean: means } = spreads(trajectories);
  const byStd = [...names.keys()].sort((a, b) => std[b] - std[a]);
  const kept = byStd.slice(0, Math.floor(keepRatio * names.length));
  const keptNames = new Set(kept.map((g) => names[g]));
  return {
    groups: names.length,
    inGroupStd: mean(std),
    inGroupMax: mean(max),
    inGroupMean: mean(means),
    keptGroups: names.filter((name) => keptNames.has(name)),
    keptInGroupStd: mean(kept.map((g) => std[g])),
    keptInGroupMax: mean(kept.map((g) => max[g])),
    keptInGroupMean: mean(kept.map((g) => means[g])),
  };
}

function spreads(trajectories: TrajectoryBatch): Spreads {
  const found = { names: [] as string[], std: [] as number[], max: [] as number[], mean: [] as number[] };
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  if (!reward) return found;
  const { groups, groupOf, groupCount } = trajectories;
  const scored = groupOf.slice();
  const max = new Float64Array(groupCount).fill(-Infinity);
  for (let i = 0; i < scored.length; i++) {
    if (Number.isNaN(reward[i])) scored[i] = -1;
    else max[scored[i]] = Math.max(max[scored[i]], reward[i]);
  }
  const moments = segmentMoments(reward, null, scored, groupCount);
  for (let group = 0; group < groupCount; group++) {
    if (moments.weight[group] < 2) continue;
    found.names.push(groups[group]);
    found.std.push(moments.std[group]);
    found.max.push(max[group]);
    found.mean.push(moments.mean[group]);
  }
  return found;
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
    const { names, std, mean: means } = spreads(trajectories);
    if (names.length === 0) return null;
    return { groups: names.length, std: mean(std)!, mean: mean(means)!, gradNorm: metrics['gradNorm'] ?? null };
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
