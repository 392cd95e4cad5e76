import { trajectoryTree } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { groupRows, successOf } from '../groups.js';
import { counted, percent } from '../sentences.js';
import { mixedOutcomes } from '../trace-allocation.js';
import { placesOf, trajectoryOfTurns } from '../visits.js';

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

/** Places that rollouts went through, and how they ended. */
interface RestartPlaces {
  /** the places, in their order: where in the other columns they stand */
  readonly at: Int32Array;
  /** the trajectory whose first turns lead there, and how many of them */
  readonly row: Int32Array;
  readonly prefixTurns: Int32Array;
  readonly continuations: Int32Array;
  readonly successes: Int32Array;
}

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
  const { ranked, size, keptOf } = rankedPlaces(trajectories, options);
  return ranked.map((place) => candidateOf(keptOf(place), size));
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

/** The candidates, best first, of how many tasks they are, and the size of the largest group. */
function rankedPlaces(trajectories: TrajectoryBatch, { lost, won, perTask }: CandidateOptions) {
  const { ids, groups, groupOf } = trajectories;
  const isTree = trajectories.parentOf.some((parent) => parent >= 0);
  const size = groupRows(trajectories).reduce((most, { rows }) => Math.max(most, rows.length), 0);
  const places = isTree ? placesOfTree(trajectories) : placesOfStates(trajectories);
  const { at, row, prefixTurns, continuations, successes } = places;
  const scores = new Float64Array(at.length);
  // [continuations][successes] NaN: not asked for yet
  const known: Float64Array[] = [];
  const scoreIfOpen = (solved: number, of: number) => {
    const success = chance(solved, of);
    return success <= lost || success >= won ? CLOSED : scoreOf(solved, of, size);
  };
  const { taskOf, count: tasks } = tasksOf(groups);
  // by task the best places, best first: of equal ones the earlier
  const best = new Int32Array(tasks * perTask);
  const held = new Int32Array(tasks);
  for (let place = 0; place < at.length; place++) {
    const of = continuations[at[place]];
    const solved = successes[at[place]];
    const ofSuccesses = (known[of] ??= new Float64Array(of + 1).fill(NaN));
    if (Number.isNaN(ofSuccesses[solved])) ofSuccesses[solved] = scoreIfOpen(solved, of);
    const score = (scores[place] = ofSuccesses[solved]);
    if (score === CLOSED) continue;
    const turns = prefixTurns[at[place]];
    const task = taskOf[groupOf[row[at[place]]]];
    const first = task * perTask;
    let next = first + held[task];
    while (next > first) {
      const other = best[next - 1];
      if (scores[other] > score || (scores[other] === score && prefixTurns[at[other]] <= turns)) break;
      if (next < first + perTask) best[next] = other;
      next--;
    }
    if (next === first + perTask) continue;
    best[next] = place;
    if (held[task] < perTask) held[task]++;
  }
  const ranked: number[] = [];
  for (let task = 0; task < tasks; task++) {
    for (let k = 0; k < held[task]; k++) ranked.push(best[task * perTask + k]);
  }
  ranked.sort((a, b) => scores[b] - scores[a] || prefixTurns[at[a]] - prefixTurns[at[b]] || a - b);
  const keptOf = (place: number): Kept => [
    groups[groupOf[row[at[place]]]],
    ids[row[at[place]]],
    prefixTurns[at[place]],
    continuations[at[place]],
    successes[at[place]],
  ];
  return { ranked, tasks: held.filter((count) => count > 0).length, size, keptOf };
}

/** [groups] a number for each different name */
function tasksOf(groups: readonly string[]): { taskOf: Int32Array; count: number } {
  const numberOf = new Map<string, number>();
  const taskOf = new Int32Array(groups.length);
  for (let group = 0; group < groups.length; group++) {
    const known = numberOf.get(groups[group]) ?? numberOf.size;
    numberOf.set(groups[group], known);
    taskOf[group] = known;
  }
  return { taskOf, count: numberOf.size };
}

/** Turns that another one followed, in the order of the tree's nodes. */
function placesOfTree(trajectories: TrajectoryBatch): RestartPlaces {
  const { nodeCount, parentNode, turnOf, depth, endNode } = trajectoryTree(trajectories);
  const success = successOf(trajectories);
  const owner = trajectoryOfTurns(trajectories);
  const hasChild = new Uint8Array(nodeCount);
  // [nodes] trajectories through it that say whether they succeeded, and those that did
  const [ended, solved] = [new Int32Array(nodeCount), new Int32Array(nodeCount)];
  for (let i = 0; i < endNode.length; i++) {
    if (Number.isNaN(success[i])) continue;
    ended[endNode[i]]++;
    solved[endNode[i]] += success[i];
  }
  for (let n = nodeCount - 1; n >= 0; n--) {
    const parent = parentNode[n];
    if (parent < 0) break; // prompts stand first
    hasChild[parent] = 1;
    ended[parent] += ended[n];
    solved[parent] += solved[n];
  }
  const [at, row] = [new Int32Array(nodeCount), new Int32Array(nodeCount)];
  let count = 0;
  for (let n = 0; n < nodeCount; n++) {
    if (turnOf[n] < 0 || hasChild[n] === 0 || ended[n] === 0) continue;
    at[count++] = n;
    row[n] = owner[turnOf[n]];
  }
  return { at: at.subarray(0, count), row, prefixTurns: depth, continuations: ended, successes: solved };
}

/** The states that two rollouts of a group saw, after their first turn: group after group, each as it was first seen. */
function placesOfStates(trajectories: TrajectoryBatch): RestartPlaces {
  const { turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const { placeOf, count: visited } = placesOf(trajectories);
  const ofPlaces = () => new Int32Array(visited);
  const seen = { row: ofPlaces(), prefixTurns: ofPlaces(), continuations: ofPlaces(), successes: ofPlaces() };
  const order = new Int32Array(visited);
  const lastVisitor = new Int32Array(visited).fill(-1);
  let found = 0;
  for (const { rows } of groupRows(trajectories)) {
    for (const row of rows) {
      if (Number.isNaN(success[row])) continue;
      const first = turnOffsets[row];
      for (let turn = first + 1; turn < turnOffsets[row + 1]; turn++) {
        const place = placeOf[turn];
        if (place < 0 || place === placeOf[first]) continue;
        if (lastVisitor[place] < 0) order[found++] = place;
        if (lastVisitor[place] < 0 || turn - first < seen.prefixTurns[place]) {
          seen.row[place] = row;
          seen.prefixTurns[place] = turn - first;
        }
        if (lastVisitor[place] === row) continue; // it was here before
        lastVisitor[place] = row;
        seen.continuations[place]++;
        seen.successes[place] += success[row];
      }
    }
  }
  return { at: order.subarray(0, found).filter((place) => seen.continuations[place] > 1), ...seen };
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
    const { ranked, tasks, size, keptOf } = rankedPlaces(trajectories, options);
    return { found: ranked.length, tasks, size, best: ranked.slice(0, KEPT).map(keptOf) };
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
