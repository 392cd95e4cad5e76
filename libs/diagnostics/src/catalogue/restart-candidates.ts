import type { TrajectoryBatch } from '#lib/dataset';
import { scratchDoubles, scratchInts } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { restartPlaces, type RestartPlaces } from '../restart-places.js';
import { counted, percent } from '../sentences.js';
import { mixedOutcomes } from '../trace-allocation.js';

/** A visited state that rollouts could start from again. */
export interface RestartCandidate {
  readonly task: string;
  /** whose first turns are to be replayed, and how many of them */
  readonly trajectory: string;
  readonly prefixTurns: number;
  /** smoothed chance of success from there, and rollouts that it rests on */
  readonly success: number;
  readonly continuations: number;
  /** chance that a group from there ends both ways, times novelty */
  readonly score: number;
  readonly reason: string;
}

export interface CandidateOptions {
  /** chances of success up to which a state is lost, and from which on it is won */
  readonly lost: number;
  readonly won: number;
  readonly perTask: number;
}

/** of the beta prior on both sides */
const PRIOR = 1;

/**
 * States worth returning to: visited, neither lost nor won, ranked by the chance that a group from there ends both ways.
 *
 *     success  (successes + 1) / (continuations + 2)
 *     score    (1 − p^m − (1 − p)^m) / sqrt(continuations + 1)      m: the largest group, p: success
 *
 * Places are the nodes of the tree where rollouts name their parents, else the equal states of a group, reached the
 * shortest way that was taken.
 *
 * Source: after ExIt, PrefixRL and Go-Explore; rank and limits are ours.
 */
export function restartCandidates(trajectories: TrajectoryBatch, options: CandidateOptions): RestartCandidate[] {
  const { best, size } = bestPlaces(trajectories, options, Infinity);
  return best.map((kept) => candidateOf(kept, size));
}

const chance = (successes: number, continuations: number) => (successes + PRIOR) / (continuations + 2 * PRIOR);

/** @param size of the largest group */
const scoreOf = (successes: number, continuations: number, size: number) =>
  mixedOutcomes(chance(successes, continuations), size) / Math.sqrt(continuations + 1);

/** The score of what is lost or won. */
const CLOSED = -1;

/** All that is to be known of a candidate: the rest follows from it and the size of the largest group. */
type Kept = readonly [task: string, trajectory: string, prefixTurns: number, continuations: number, successes: number];

function candidateOf([task, trajectory, prefixTurns, continuations, successes]: Kept, size: number): RestartCandidate {
  return {
    task,
    trajectory,
    prefixTurns,
    continuations,
    success: chance(successes, continuations),
    score: scoreOf(successes, continuations, size),
    reason: `${successes} of ${continuations} succeeded from here`,
  };
}

/**
 * How many candidates there are, the first of them, best first, of how many tasks they are, and the size of the largest
 * group.
 *
 * @param most candidates that are told
 */
function bestPlaces(trajectories: TrajectoryBatch, options: CandidateOptions, most: number) {
  const { perTask } = options;
  const size = largestGroup(trajectories);
  const places = restartPlaces(trajectories);
  const { tasks, ofTasks, held, scores } = bestOfTasks(trajectories, places, options, size);
  let found = 0;
  let tasksFound = 0;
  for (let task = 0; task < tasks; task++) {
    found += held[task];
    if (held[task] > 0) tasksFound++;
  }
  const ranked = rankedIn(Math.min(most, found));
  let told = 0;
  for (let task = 0; task < tasks; task++) {
    for (let k = 0; k < held[task]; k++) {
      const isTold = keepBest(ranked, 0, told, ranked.length, ofTasks[task * perTask + k], scores, places.prefixTurns);
      if (isTold && told < ranked.length) told++;
    }
  }
  const best: Kept[] = [];
  for (let k = 0; k < told; k++) best.push(keptOf(trajectories, places, ranked[k]));
  return { found, tasks: tasksFound, size, best };
}

const scoresOf = scratchDoubles();
const ofTasksIn = scratchInts();
const heldIn = scratchInts();
const rankedIn = scratchInts();

/**
 * By task the best places, best first, `perTask` each, and how many there are.
 *
 * @param size of the largest group
 */
function bestOfTasks(
  { groups, groupOf }: TrajectoryBatch,
  { count, row, prefixTurns, continuations, successes }: RestartPlaces,
  { lost, won, perTask }: CandidateOptions,
  size: number,
) {
  const { taskOf, tasks } = tasksOf(groups);
  const ofTasks = ofTasksIn(tasks * perTask);
  const held = heldIn(tasks).fill(0);
  const scores = scoresOf(count);
  // [continuations][successes] NaN: not asked for yet
  const known: Float64Array[] = [];
  let score = CLOSED;
  let isKept = false;
  for (let place = 0; place < count; place++) {
    const of = continuations[place];
    const solved = successes[place];
    if (of === 0) continue;
    if (place === 0 || of !== continuations[place - 1] || solved !== successes[place - 1]) {
      const ofSuccesses = (known[of] ??= new Float64Array(of + 1).fill(NaN));
      if (Number.isNaN(ofSuccesses[solved])) {
        const success = chance(solved, of);
        ofSuccesses[solved] = success <= lost || success >= won ? CLOSED : scoreOf(solved, of, size);
      }
      score = ofSuccesses[solved];
    } else if (!isKept && row[place] === row[place - 1] && prefixTurns[place] > prefixTurns[place - 1]) {
      continue; // no better than the one before, which was not kept
    }
    scores[place] = score;
    isKept = false;
    if (score === CLOSED) continue;
    const task = taskOf[groupOf[row[place]]];
    isKept = keepBest(ofTasks, task * perTask, held[task], perTask, place, scores, prefixTurns);
    if (isKept && held[task] < perTask) held[task]++;
  }
  return { tasks, ofTasks, held, scores };
}

/**
 * Puts a place into a list of the best ones, best first: of equal scores the one with fewer turns, of those the earlier.
 *
 * @param list [first .. first + held - 1] the list so far, which may hold `most`
 * @returns whether it is among them
 */
function keepBest(
  list: Int32Array,
  first: number,
  held: number,
  most: number,
  place: number,
  scores: Float64Array,
  prefixTurns: Int32Array,
): boolean {
  const score = scores[place];
  const turns = prefixTurns[place];
  const end = first + most;
  let next = first + held;
  for (; next > first; next--) {
    const other = list[next - 1];
    if (scores[other] > score) break;
    if (scores[other] === score) {
      const ofOther = prefixTurns[other];
      if (ofOther < turns || (ofOther === turns && other < place)) break;
    }
    if (next < end) list[next] = other;
  }
  if (next === end) return false;
  list[next] = place;
  return true;
}

function keptOf({ ids, groups, groupOf }: TrajectoryBatch, places: RestartPlaces, place: number): Kept {
  const row = places.row[place];
  const { prefixTurns, continuations, successes } = places;
  return [groups[groupOf[row]], ids[row], prefixTurns[place], continuations[place], successes[place]];
}

const sizesOf = scratchInts();

function largestGroup({ groupOf, groupCount }: TrajectoryBatch): number {
  const sizes = sizesOf(groupCount).fill(0);
  let most = 0;
  for (let row = 0; row < groupOf.length; row++) most = Math.max(most, ++sizes[groupOf[row]]);
  return most;
}

const taskNumbersIn = scratchInts();

/** [groups] a number for each different name */
function tasksOf(groups: readonly string[]): { taskOf: Int32Array; tasks: number } {
  const numberOf = new Map<string, number>();
  const taskOf = taskNumbersIn(groups.length);
  for (let group = 0; group < groups.length; group++) {
    const known = numberOf.get(groups[group]) ?? numberOf.size;
    if (known === numberOf.size) numberOf.set(groups[group], known);
    taskOf[group] = known;
  }
  return { taskOf, tasks: numberOf.size };
}

const KEPT = 50;

export const restartCandidatesDiagnostic = defineDiagnostic({
  id: 'restart-candidates',
  version: 3,
  title: 'States worth returning to',
  question: 'From which visited states would new rollouts bring both successes and failures?',
  remedy: 'Start some of the next rollouts from these states, by replaying their first turns.',
  headline: 'candidates',
  level: 'task',
  status: 'reconstructed',
  source: 'ExIt, arXiv:2509.04575; PrefixRL, arXiv:2601.18795; Go-Explore; rank ours',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success', 'turn.state', 'turn.action'],
  metrics: [],
  params: z.strictObject({
    lost: z.number().min(0).max(1).default(0.1).describe('chance of success up to which a state is lost'),
    won: z.number().min(0).max(1).default(0.9).describe('chance from which on it is won'),
    perTask: z.int().min(1).max(50).default(3).describe('states of one task, at most'),
  }),
  thresholds: z.strictObject({
    window: z.int().min(1).default(5).describe('last training steps whose states are listed'),
  }),

  measure({ trajectories }, options) {
    if (trajectories.ids.length === 0) return null;
    return bestPlaces(trajectories, options, KEPT);
  },

  read(steps, { window }) {
    const byTask = new Map<string, RestartCandidate & { trainingStep: number }>();
    const listed = steps
      .slice(-window)
      .flatMap(({ trainingStep, figures: { best, size } }) =>
        best.map((kept) => ({ trainingStep, ...candidateOf(kept, size) })),
      )
      .sort((a, b) => b.score - a.score || b.trainingStep - a.trainingStep)
      .slice(0, KEPT);
    for (const candidate of listed) if (!byTask.has(candidate.task)) byTask.set(candidate.task, candidate);
    const [best] = listed;
    return {
      values: {
        candidates: listed.length,
        tasks: byTask.size,
        bestScore: best?.score ?? null,
        meanPrefixTurns: best ? listed.reduce((sum, { prefixTurns }) => sum + prefixTurns, 0) / listed.length : null,
      },
      reasons: best ? {} : { bestScore: 'no state is worth it', meanPrefixTurns: 'no state is worth it' },
      sentence: best
        ? `${counted(listed.length, 'state')} of ${counted(byTask.size, 'task')} ${listed.length === 1 ? 'is' : 'are'} worth returning to; the best lies ${counted(best.prefixTurns, 'turn')} in and succeeds in ${percent(best.success)}`
        : 'no state that two rollouts of a task saw is neither lost nor won',
      steps: steps.map(({ trainingStep, figures }) => ({
        trainingStep,
        values: { candidates: figures.found, tasks: figures.tasks },
        observations: figures.found,
      })),
      evidence: listed.slice(0, MAX_EVIDENCE).map(({ trainingStep, task, trajectory, prefixTurns, reason }) => ({
        trainingStep,
        group: task,
        trajectory,
        turn: prefixTurns - 1,
        note: reason,
      })),
      detail: { candidates: listed },
    };
  },

  rules: () => [],
});
