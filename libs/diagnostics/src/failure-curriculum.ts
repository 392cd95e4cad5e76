import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { indexText, scratchDoubles, scratchInts, textSimilarity, type IndexedText } from '#lib/numeric';
import { successOf } from './groups.js';

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

export const FINGERPRINT_CHARS = 800;
const LEAST_WEIGHT = 0.001;

/** Failures in the order given; a trajectory without an outcome is none. The fingerprint is the first prompt. */
function failuresOf(trajectories: TrajectoryBatch): Failure[] {
  const { ids, groups, groupOf } = trajectories;
  const success = successOf(trajectories);
  const failures: Failure[] = [];
  for (let i = 0; i < ids.length; i++) {
    if (!(success[i] < 1)) continue;
    failures.push({ task: groups[groupOf[i]], fingerprint: promptOf(trajectories, i).slice(0, FINGERPRINT_CHARS) });
  }
  return failures;
}

/** The first state; empty where none is said. */
export function promptOf({ turnOffsets, stateKey, texts }: TrajectoryBatch, i: number): string {
  const first = turnOffsets[i];
  const key = first < turnOffsets[i + 1] ? stateKey[first] : -1;
  return key >= 0 && texts ? texts.states[key] : '';
}

const tasksOfFailures = scratchInts();
const isOtherOf = scratchInts();
const rememberedByOf = scratchInts();
const weightsOf = scratchDoubles();
const countedBefore = scratchInts();
const nextOfTasks = scratchInts();

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
    const all = this.history.concat(failures);
    const before = this.history.length;
    // the tasks as numbers: hundreds of failures raise those of dozens before them
    const taskOf = tasksOfFailures(all.length);
    const numberOf = numberTasks(all, taskOf);
    const weights = weightsOf(numberOf.size);
    let number = 0;
    for (const task of numberOf.keys()) weights[number++] = this.weights.get(task) ?? 1;

    const compared = this.#compare(all, before, most);
    let from = before;
    for (const { at, alike } of compared) {
      raiseEach(weights, taskOf, from, at + 1, selfBoost);
      for (const { task, similarity } of alike) weights[numberOf.get(task)!] += boost * similarity;
      from = at + 1;
    }
    raiseEach(weights, taskOf, from, all.length, selfBoost);
    if (compared.length < failures.length) {
      const usual = usualSimilarity(compared, taskOf, numberOf.size, maxHistory);
      const isOther = isOtherOf(all.length).fill(0, 0, before).fill(1, before);
      for (const { at } of compared) isOther[at] = 0;
      const times = timesRemembered(taskOf, numberOf.size, isOther, maxHistory);
      for (let task = 0; task < times.length; task++) if (times[task] > 0) weights[task] += boost * usual * times[task];
    }
    // one that was not raised keeps what it has
    number = 0;
    for (const task of numberOf.keys()) this.weights.set(task, Math.max(weights[number++], LEAST_WEIGHT));
    this.history.length = 0;
    for (let at = Math.max(0, all.length - maxHistory); at < all.length; at++) this.history.push(all[at]);
    const pairs: ComparedFailure[] = [];
    for (const { at, alike } of compared) {
      if (alike.length > 0) pairs.push({ of: all[at].task, task: alike[0].task, similarity: alike[0].similarity });
    }
    return pairs;
  }

  /** Compares so many of the failures from `before` on with those that they remember. */
  #compare(all: readonly Failure[], before: number, most: number): readonly Compared[] {
    const { maxHistory } = this.#options;
    const failures = all.length - before;
    const every = Math.max(1, failures / most);
    const compared: Compared[] = [];
    for (let k = 0; k < Math.min(failures, most); k++) {
      const at = before + Math.floor((k + 0.5) * every);
      compared.push({ at, alike: this.#alikeAmong(all[at], all, Math.max(0, at - maxHistory), at) });
    }
    return compared;
  }

  /** Earlier failures of other tasks, the most similar first, one per task. */
  alike(failure: Failure): readonly AlikeTask[] {
    return this.#alikeAmong(failure, this.history, 0, this.history.length);
  }

  /** Among the failures from `first` to before `end`. The same one again changes nothing, for a task counts once. */
  #alikeAmong(
    { task, fingerprint }: Failure,
    failures: readonly Failure[],
    first: number,
    end: number,
  ): readonly AlikeTask[] {
    const { similarityThreshold, topK } = this.#options;
    const scored: AlikeTask[] = [];
    for (let at = first; at < end; at++) {
      const earlier = failures[at];
      if (earlier.task === task || (at > first && earlier === failures[at - 1])) continue;
      const similarity = this.#similarity(fingerprint, earlier.fingerprint);
      if (similarity > 0 && similarity >= similarityThreshold) scored.push({ task: earlier.task, similarity });
    }
    scored.sort(moreSimilarFirst);
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

/** A failure among others, and what it was like. */
interface Compared {
  readonly at: number;
  readonly alike: readonly AlikeTask[];
}

/** Raises the tasks of the failures from `from` to before `end`. */
function raiseEach(weights: Float64Array, taskOf: Int32Array, from: number, end: number, by: number): void {
  for (let at = from; at < end; at++) weights[taskOf[at]] += by;
}

/** By which failures are like each other task that they remember, on average; one not among the most similar counts 0. */
function usualSimilarity(compared: readonly Compared[], taskOf: Int32Array, tasks: number, maxHistory: number): number {
  // [tasks] the last failure that remembered it
  const rememberedBy = rememberedByOf(tasks).fill(-1);
  let raised = 0;
  let remembered = 0;
  for (const { at, alike } of compared) {
    let similar = 0;
    for (const { similarity } of alike) similar += similarity;
    raised += similar;
    rememberedBy[taskOf[at]] = at;
    for (let place = Math.max(0, at - maxHistory); place < at; place++) {
      if (rememberedBy[taskOf[place]] === at) continue;
      rememberedBy[taskOf[place]] = at;
      remembered++;
    }
  }
  return remembered > 0 ? raised / remembered : 0;
}

export const moreSimilarFirst = (a: AlikeTask, b: AlikeTask) => b.similarity - a.similarity;

/**
 * Numbers the tasks of failures from 0, in the order in which they come.
 *
 * @param taskOf [failures] is written to
 */
function numberTasks(failures: readonly Failure[], taskOf: Int32Array): ReadonlyMap<string, number> {
  const numberOf = new Map<string, number>();
  let [last, number] = ['', -1];
  for (let at = 0; at < failures.length; at++) {
    const { task } = failures[at];
    // the failures of a task most often come one after the other
    if (task !== last || number < 0) {
      number = numberOf.get(task) ?? numberOf.size;
      if (number === numberOf.size) numberOf.set(task, number);
      last = task;
    }
    taskOf[at] = number;
  }
  return numberOf;
}

/**
 * How often a task is among those remembered when another task fails.
 *
 * @param taskOf [failures] in their order
 * @param isCounted [failures] 1: it is one of those that ask
 * @param maxHistory failures before it that each of them remembers
 * @returns [tasks]
 */
function timesRemembered(taskOf: Int32Array, tasks: number, isCounted: Int32Array, maxHistory: number): Int32Array {
  const { length } = taskOf;
  // [failures + 1] how many before it are counted
  const counted = countedBefore(length + 1);
  counted[0] = 0;
  for (let place = 0; place < length; place++) counted[place + 1] = counted[place] + isCounted[place];
  // [tasks] where it fails next
  const next = nextOfTasks(tasks).fill(length);
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
