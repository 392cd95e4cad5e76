import type { TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { z } from 'zod';
import {
  FailureCurriculum,
  FINGERPRINT_CHARS,
  moreSimilarFirst,
  promptOf,
  type ComparedFailure,
  type Failure,
} from '../failure-curriculum.js';
import { successOf } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/**
 * Failures in the order given, with one fingerprint per task: its first prompt without what all of them begin with, for
 * instructions say nothing of a task. The failures of a task are one object.
 */
function failuresToldApart(trajectories: TrajectoryBatch): Failure[] {
  const { ids, groups, groupOf } = trajectories;
  const success = successOf(trajectories);
  const numberOf = new Map<string, number>();
  const prompts: string[] = [];
  // [groups] the number of its task; -1: none of it has failed
  const taskOf = tasksOfGroups(groups.length).fill(-1);
  for (let i = 0; i < ids.length; i++) {
    const group = groupOf[i];
    if (!(success[i] < 1) || taskOf[group] >= 0) continue;
    const known = numberOf.get(groups[group]);
    taskOf[group] = known ?? prompts.length;
    if (known !== undefined) continue;
    numberOf.set(groups[group], prompts.length);
    prompts.push(promptOf(trajectories, i));
  }
  const shared = sharedStart(prompts);
  const told: Failure[] = [];
  for (const task of numberOf.keys()) {
    told.push({ task, fingerprint: prompts[told.length].slice(shared, shared + FINGERPRINT_CHARS) });
  }
  const failures: Failure[] = [];
  for (let i = 0; i < ids.length; i++) if (success[i] < 1) failures.push(told[taskOf[groupOf[i]]]);
  return failures;
}

const tasksOfGroups = scratchInts();

/** Length of what all of several texts begin with; 0 for one alone. */
function sharedStart([first = '', ...others]: readonly string[]): number {
  let shared = others.length > 0 ? first : '';
  for (const other of others) {
    // most often as long as before, and told in one go
    if (other.startsWith(shared)) continue;
    let at = 0;
    while (other[at] === shared[at]) at++;
    shared = shared.slice(0, at);
  }
  return shared.length;
}

const isSamePair = (a: ComparedFailure, b: ComparedFailure) =>
  (a.of === b.task && a.task === b.of) || (a.of === b.of && a.task === b.task);

/** Of the weights of tasks; one that has none weighs 1. */
function sumsOf(tasks: ReadonlySet<string>, weights: ReadonlyMap<string, number>) {
  let total = 0;
  let squares = 0;
  let greatest = 0;
  for (const task of tasks) {
    const weight = weights.get(task) ?? 1;
    total += weight;
    squares += weight ** 2;
    if (weight > greatest) greatest = weight;
  }
  return { total, squares, greatest };
}

const EVIDENCE_PER_STEP = 3;

export const failureSimilarityDiagnostic = stepwise({
  id: 'failure-similarity',
  version: 3,
  title: 'Failures alike',
  question: 'Which tasks fail alike, and would sampling after failures starve the rest?',
  remedy:
    'Bound how far failures raise a weight, or mix with uniform sampling; look at the tasks that fail alike together.',
  headline: 'effectiveTaskShare',
  level: 'run',
  status: 'verified',
  source: 'AMAP-ML/roleagent role_agent/aiw_curriculum.py; effective number of tasks ours',
  requires: ['turn.state', 'trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({
    topK: z.int().min(1).default(3).describe('similar tasks that one failure raises'),
    boost: z.number().min(0).default(0.35).describe('of their weight, times the similarity'),
    selfBoost: z.number().min(0).default(0.15).describe('of its own weight'),
    similarityThreshold: z.number().min(0).max(1).default(0).describe('less similar tasks are not raised; 0: all are'),
    maxHistory: z.int().min(1).default(32).describe('failures that are remembered'),
    compared: z
      .int()
      .min(1)
      .default(8)
      .describe(
        'failures of a step that are compared with those remembered, evenly taken; the others count as these on average',
      ),
    maxChars: z
      .int()
      .min(0)
      .default(100)
      .describe('characters that are compared, from where the prompts of a step differ; 0: all'),
  }),
  thresholds: z.strictObject({
    effective: z.number().min(0).max(1).default(0.2).describe('share of effective tasks: less is a warning'),
    alike: z.number().min(0).max(1).default(0.8).describe('similarity from which a pair of tasks is shown'),
  }),

  measure({ trajectories }, { compared, ...params }) {
    const tasks = new Set(trajectories.groups);
    if (tasks.size === 0) return null;
    const curriculum = new FailureCurriculum(params);
    const pairs = curriculum.record(failuresToldApart(trajectories), compared).toSorted(moreSimilarFirst);
    const { total, squares, greatest } = sumsOf(tasks, curriculum.weights);
    const effective = total ** 2 / squares;
    return {
      values: {
        effectiveTaskShare: effective / tasks.size,
        effectiveTasks: effective,
        // each task that failed has got a weight
        failingTaskShare: curriculum.weights.size / tasks.size,
        greatestProbability: greatest / total,
        nearestSimilarity: pairs[0]?.similarity ?? null,
      },
      reasons: { nearestSimilarity: 'needs failures of two tasks' },
      observations: tasks.size,
      evidence: pairs
        .filter((pair, i) => !pairs.slice(0, i).some((before) => isSamePair(before, pair)))
        .slice(0, EVIDENCE_PER_STEP)
        .map(({ of, task, similarity }) => ({
          group: of,
          note: `fails like ${task}, whose prompt is ${percent(similarity)} the same`,
          weight: similarity,
        })),
    };
  },

  sentence({ effectiveTaskShare, failingTaskShare, nearestSimilarity }) {
    const spread = `${percent(failingTaskShare ?? 0)} of the tasks fail; sampling after failures would draw from ${percent(effectiveTaskShare ?? 0)} of them in effect`;
    return nearestSimilarity === null
      ? spread
      : `${spread}; the nearest pair of prompts is alike by ${figure(nearestSimilarity)}`;
  },

  rules: ({ effective }) => [
    {
      id: 'starves-tasks',
      level: 'warn',
      all: [{ value: 'effectiveTaskShare', op: '<', limit: effective }],
      says: `sampling after failures would draw from less than ${percent(effective)} of the tasks in effect`,
    },
  ],
});
