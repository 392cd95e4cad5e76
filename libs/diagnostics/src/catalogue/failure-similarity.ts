import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { indexText, textSimilarity, type IndexedText } from '#lib/numeric';
import { z } from 'zod';
import { successOf } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** A rollout of a task that failed. */
export interface Failure {
  readonly task: string;
  readonly fingerprint: string;
}

export interface SimilarityOptions {
  /** similar tasks that one failure raises */
  readonly topK: number;
  /** by their similarity, times this */
  readonly boost: number;
  /** and its own task by this */
  readonly selfBoost: number;
  /** above 0: less similar tasks are not raised */
  readonly similarityThreshold: number;
  /** failures that are remembered */
  readonly maxHistory: number;
  /** characters of a fingerprint that are compared; 0: all */
  readonly maxChars: number;
}

export interface AlikeTask {
  readonly task: string;
  readonly similarity: number;
}

/** A failure of a task, and the task that fails most like it. */
export interface ComparedFailure extends AlikeTask {
  readonly of: string;
}

const FINGERPRINT_CHARS = 800;
const LEAST_WEIGHT = 0.001;

/** Failures in the order given; a trajectory without an outcome is none. The fingerprint is the first prompt. */
export function failuresOf(trajectories: TrajectoryBatch, chars = FINGERPRINT_CHARS): Failure[] {
  const { ids, groups, groupOf, turnOffsets, stateKey, texts } = trajectories;
  const success = successOf(trajectories);
  const failures: Failure[] = [];
  for (let i = 0; i < ids.length; i++) {
    if (!(success[i] < 1)) continue;
    const first = turnOffsets[i];
    const key = first < turnOffsets[i + 1] ? stateKey[first] : -1;
    const text = key >= 0 && texts ? texts.states[key] : '';
    failures.push({ task: groups[groupOf[i]], fingerprint: text.slice(0, chars) });
  }
  return failures;
}

/**
 * The weights of a curriculum that samples a task more often when it, or one like it, failed.
 *
 *     w[task] += selfBoost                   for each failure, in order
 *     w[other] += boost · similarity         for the first topK distinct other tasks among the failures remembered,
 *                                            by difflib ratio of the fingerprints, above 0
 *     w = max(w, 0.001)                      after each training step
 *
 * Source: AMAP-ML/roleagent aiw_curriculum.py (AIWCurriculum.record_rollout_end).
 */
export class FailureCurriculum {
  readonly weights = new Map<string, number>();
  readonly history: Failure[] = [];
  /** by the one text, then by the other */
  readonly #known = new Map<string, Map<string, number>>();
  readonly #indexed = new Map<string, IndexedText>();
  readonly #options: SimilarityOptions;

  constructor(options: SimilarityOptions) {
    this.#options = options;
  }

  /**
   * The failures of one training step.
   *
   * @param most are compared with those remembered, evenly taken. Each other one raises all the tasks remembered alike,
   *   by what those that were compared raise on average
   * @returns those that were compared, each with the most similar other task
   */
  record(failures: readonly Failure[], most = Infinity): readonly ComparedFailure[] {
    const { boost, selfBoost, maxHistory } = this.#options;
    const all = [...this.history, ...failures];
    const before = all.length - failures.length;
    const firstOf = (i: number) => Math.max(0, before + i - maxHistory);
    const every = Math.max(1, failures.length / most);
    const found = new Map<number, readonly AlikeTask[]>();
    let [raised, remembered] = [0, 0];
    for (let k = 0; k < Math.min(failures.length, most); k++) {
      const i = Math.floor((k + 0.5) * every);
      const rememberedThen = new Set(all.slice(firstOf(i), before + i));
      const alike = this.#alikeAmong(failures[i], rememberedThen);
      found.set(i, alike);
      raised += alike.reduce((sum, { similarity }) => sum + similarity, 0);
      const tasks = new Set<string>();
      for (const { task } of rememberedThen) if (task !== failures[i].task) tasks.add(task);
      remembered += tasks.size;
    }
    const usual = remembered > 0 ? raised / remembered : 0;

    // the tasks as numbers: hundreds of failures raise those of dozens before them
    const numberOf = new Map<string, number>();
    const taskOf = new Int32Array(all.length);
    for (let place = 0; place < all.length; place++) {
      const { task } = all[place];
      const number = numberOf.get(task) ?? numberOf.size;
      if (number === numberOf.size) numberOf.set(task, number);
      taskOf[place] = number;
    }
    const weights = new Float64Array(numberOf.size);
    for (const [task, number] of numberOf) weights[number] = this.weights.get(task) ?? 1;
    const wasRaised = new Uint8Array(weights.length);
    const raise = (task: number, by: number) => {
      weights[task] += by;
      wasRaised[task] = 1;
    };
    for (let i = 0; i < failures.length; i++) {
      raise(taskOf[before + i], selfBoost);
      for (const { task, similarity } of found.get(i) ?? []) raise(numberOf.get(task)!, boost * similarity);
    }
    if (found.size < failures.length) {
      const isOther = new Uint8Array(all.length).fill(1, before);
      for (const i of found.keys()) isOther[before + i] = 0;
      const times = timesRemembered(taskOf, weights.length, isOther, maxHistory);
      for (let task = 0; task < times.length; task++) if (times[task] > 0) raise(task, boost * usual * times[task]);
    }
    for (const [task, number] of numberOf) if (wasRaised[number] === 1) this.weights.set(task, weights[number]);
    this.history.splice(0, Infinity, ...all.slice(-maxHistory));
    for (const [task, weight] of this.weights) this.weights.set(task, Math.max(weight, LEAST_WEIGHT));
    return [...found].flatMap(([i, [first]]) => (first ? [{ of: failures[i].task, ...first }] : []));
  }

  /** Earlier failures of other tasks, the most similar first, one per task. */
  alike(failure: Failure): readonly AlikeTask[] {
    return this.#alikeAmong(failure, new Set(this.history));
  }

  /** @param remembered in their order; the same one again changes nothing, for a task counts once */
  #alikeAmong({ task, fingerprint }: Failure, remembered: ReadonlySet<Failure>): readonly AlikeTask[] {
    const { similarityThreshold, topK } = this.#options;
    const scored: AlikeTask[] = [];
    for (const earlier of remembered) {
      if (earlier.task === task) continue;
      const similarity = this.#similarity(fingerprint, earlier.fingerprint);
      if (similarity > 0 && similarity >= similarityThreshold) scored.push({ task: earlier.task, similarity });
    }
    scored.sort((a, b) => b.similarity - a.similarity);
    const seen = new Set<string>();
    return scored.filter((each) => !seen.has(each.task) && seen.size < topK && seen.add(each.task));
  }

  #similarity(a: string, b: string): number {
    const ofA = this.#known.get(a) ?? new Map<string, number>();
    this.#known.set(a, ofA);
    const known = ofA.get(b);
    if (known !== undefined) return known;
    const found = textSimilarity(this.#index(a), this.#index(b));
    ofA.set(b, found);
    return found;
  }

  #index(text: string): IndexedText {
    const known = this.#indexed.get(text);
    if (known) return known;
    const { maxChars } = this.#options;
    const indexed = indexText(maxChars > 0 ? text.slice(0, maxChars) : text);
    this.#indexed.set(text, indexed);
    return indexed;
  }
}

/**
 * How often a task is among those remembered when another task fails.
 *
 * @param taskOf [failures] in their order
 * @param isCounted [failures] 1: it is one of those that ask
 * @param maxHistory failures before it that each of them remembers
 * @returns [tasks]
 */
function timesRemembered(taskOf: Int32Array, tasks: number, isCounted: Uint8Array, maxHistory: number): Int32Array {
  const { length } = taskOf;
  // [failures + 1] how many before it are counted
  const counted = new Int32Array(length + 1);
  for (let place = 0; place < length; place++) counted[place + 1] = counted[place] + isCounted[place];
  // [tasks] where it fails next
  const next = new Int32Array(tasks).fill(length);
  const times = new Int32Array(tasks);
  for (let place = length - 1; place >= 0; place--) {
    const task = taskOf[place];
    const end = Math.min(place + 1 + maxHistory, next[task]);
    times[task] += counted[end] - counted[place + 1];
    next[task] = place;
  }
  return times;
}

/** The curriculum over training steps, with tasks numbered by the signal `taskIndex`. */
export function failureSimilarity(
  trajectories: TrajectoryBatch,
  options: SimilarityOptions & { readonly taskCount: number },
) {
  const index = numbers(trajectories, 'trajectory.taskIndex');
  const success = successOf(trajectories);
  const curriculum = new FailureCurriculum(options);
  const failures = failuresOf(trajectories);
  const failed = [...trajectories.ids.keys()].filter((i) => success[i] < 1);
  const steps = [...new Set(trajectories.trainingStep)].sort((a, b) => a - b);
  const weightsAfterStep = steps.map((step) => {
    curriculum.record(
      failed.flatMap((i, f) =>
        trajectories.trainingStep[i] === step
          ? [{ ...failures[f], task: String(index ? index[i] : failures[f].task) }]
          : [],
      ),
    );
    return Array.from({ length: options.taskCount }, (_, task) => curriculum.weights.get(String(task)) ?? 1);
  });
  return { weightsAfterStep, historySize: curriculum.history.length };
}

/**
 * One fingerprint per task, without what all of them begin with: instructions say nothing of a task. The failures of a
 * task are one object.
 */
function toldApart(failures: readonly Failure[]): Failure[] {
  const prompts = new Map<string, string>();
  for (const { task, fingerprint } of failures) if (!prompts.has(task)) prompts.set(task, fingerprint);
  const shared = sharedStart([...prompts.values()]);
  const told = new Map<string, Failure>();
  for (const [task, prompt] of prompts) {
    told.set(task, { task, fingerprint: prompt.slice(shared, shared + FINGERPRINT_CHARS) });
  }
  return failures.map(({ task }) => told.get(task)!);
}

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
    const tasks = [...new Set(trajectories.groups)];
    if (tasks.length === 0) return null;
    const failures = toldApart(failuresOf(trajectories, Infinity));
    const curriculum = new FailureCurriculum(params);
    const pairs = [...curriculum.record(failures, compared)].sort((a, b) => b.similarity - a.similarity);
    const weights = tasks.map((task) => curriculum.weights.get(task) ?? 1);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const effective = total ** 2 / weights.reduce((sum, weight) => sum + weight ** 2, 0);
    return {
      values: {
        effectiveTaskShare: effective / tasks.length,
        effectiveTasks: effective,
        failingTaskShare: new Set(failures.map(({ task }) => task)).size / tasks.length,
        greatestProbability: Math.max(...weights) / total,
        nearestSimilarity: pairs[0]?.similarity ?? null,
      },
      reasons: { nearestSimilarity: 'needs failures of two tasks' },
      observations: tasks.length,
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
