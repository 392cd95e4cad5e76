import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { mean } from '../groups.js';
import { agreeing, count, counted, percent } from '../sentences.js';
import { keptTallies, mergeTallies, talliesOf, type TaskTally } from '../task-tallies.js';

export const BANDS = ['unsolved', 'hard', 'frontier', 'easy', 'solved'] as const;
export type Band = (typeof BANDS)[number];

export interface BandOptions {
  /** of the beta prior */
  readonly priorA: number;
  readonly priorB: number;
  /** rollouts of the next group */
  readonly groupSize: number;
}

const HARD = 0.25;
const EASY = 0.75;

/**
 * How hard each task is, of c successes in n attempts.
 *
 *     posteriorMean     (c + a) / (n + a + b)
 *     band              by q = c/n: unsolved (c = 0), hard (≤ .25), frontier, easy (≥ .75), solved (c = n)
 *     learnability      q (1 − q)
 *     mixedProbability  1 − p^m − (1 − p)^m for the next group of m, p the posterior mean
 *     needsHint         every reward of the latest group is ≤ 0 (GHPO)
 *
 * Source: GHPO (hkgc-1/GHPO) for needsHint; bands ours.
 */
export function difficultyBands(tallies: readonly TaskTally[], { priorA, priorB, groupSize }: BandOptions) {
  const tasks = tallies.map(({ task, attempts, successes, latestHopeless }) => {
    const q = successes / attempts;
    const p = (successes + priorA) / (attempts + priorA + priorB);
    return {
      task,
      attempts,
      successes,
      posteriorMean: p,
      band: bandOf(successes, attempts),
      learnability: q * (1 - q),
      needsHint: latestHopeless,
      mixedProbability: 1 - p ** groupSize - (1 - p) ** groupSize,
    };
  });
  const counts = BANDS.map((band) => [band, tasks.filter((task) => task.band === band).length] as const);
  return {
    tasks,
    bandCounts: Object.fromEntries(counts) as Record<Band, number>,
    meanLearnability: mean(tasks.map(({ learnability }) => learnability)),
  };
}

function bandOf(successes: number, attempts: number): Band {
  if (successes === 0) return 'unsolved';
  if (successes === attempts) return 'solved';
  const q = successes / attempts;
  return q <= HARD ? 'hard' : q >= EASY ? 'easy' : 'frontier';
}

export const difficultyBandsDiagnostic = defineDiagnostic({
  id: 'difficulty-bands',
  version: 2,
  title: 'Difficulty of the tasks',
  question: 'How many tasks lie where something can be learned?',
  remedy: 'Sample tasks by learnability, retire solved ones, give hints or prefixes for unsolved ones.',
  headline: 'learnableShare',
  level: 'task',
  status: 'own',
  source: 'needsHint: GHPO (hkgc-1/GHPO); bands ours',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(1).default(20).describe('last training steps whose attempts count'),
    priorA: z.number().positive().default(1).describe('of the beta prior on success'),
    priorB: z.number().positive().default(1).describe('of the beta prior on failure'),
    groupSize: z.int().min(2).default(8).describe('rollouts of the next group'),
    learnable: z.number().min(0).max(1).default(0.3).describe('hard and frontier tasks: a smaller share is a warning'),
    unsolved: z.number().min(0).max(1).default(0.5).describe('unsolved tasks: a greater share is a warning'),
  }),

  measure: ({ trajectories }) => keptTallies(trajectories),

  read(steps, thresholds) {
    const perStep = steps.map(({ figures }) => talliesOf(figures));
    const at = (i: number) => readBands(perStep.slice(Math.max(0, i + 1 - thresholds.window), i + 1), thresholds);
    const now = at(steps.length - 1);
    const byLearnability = now.tasks.toSorted((a, b) => b.learnability - a.learnability);
    return {
      values: sharesOf(now),
      reasons: {},
      sentence: sentenceOf(now),
      steps: steps.map(({ trainingStep }, i) => {
        const then = at(i);
        return { trainingStep, values: sharesOf(then), observations: then.tasks.length };
      }),
      evidence: byLearnability.slice(0, MAX_EVIDENCE).map(({ task, successes, attempts }) => ({
        trainingStep: steps.at(-1)!.trainingStep,
        group: task,
        note: `${successes} of ${attempts} solved`,
      })),
      detail: { tasks: byLearnability },
    };
  },

  rules: ({ learnable, unsolved }) => [
    {
      id: 'little-to-learn',
      level: 'warn',
      all: [{ value: 'learnableShare', op: '<', limit: learnable }],
      says: `less than ${percent(learnable)} of the tasks are hard or at the frontier`,
    },
    {
      id: 'too-hard',
      level: 'warn',
      all: [{ value: 'unsolvedShare', op: '>', limit: unsolved }],
      says: `more than ${percent(unsolved)} of the tasks were never solved`,
    },
  ],
});

function readBands(perStep: readonly (readonly TaskTally[])[], options: BandOptions) {
  return difficultyBands(mergeTallies(perStep.flat()), options);
}

function sentenceOf({ tasks, bandCounts }: ReturnType<typeof difficultyBands>): string {
  const learnable = bandCounts.hard + bandCounts.frontier;
  const of = `${count(learnable)} of ${counted(tasks.length, 'task')} ${agreeing(learnable, tasks.length, 'is', 'are')}`;
  return `${of} hard or at the frontier, ${count(bandCounts.unsolved)} unsolved, ${count(bandCounts.easy + bandCounts.solved)} easy or solved`;
}

function sharesOf({ tasks, bandCounts, meanLearnability }: ReturnType<typeof difficultyBands>) {
  const n = tasks.length;
  return {
    learnableShare: (bandCounts.hard + bandCounts.frontier) / n,
    ...Object.fromEntries(BANDS.map((band) => [`${band}Share`, bandCounts[band] / n])),
    meanLearnability,
  };
}
