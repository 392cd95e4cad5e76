import { nodeMeans, trajectoryTree } from '#lib/credit';
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

/** Places that rollouts went through, and how they ended. [places] each */
interface RestartPlaces {
  readonly count: number;
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
  const { ranked, candidateAt } = rankedPlaces(trajectories, options);
  return ranked.map(candidateAt);
}

/** The candidates, best first, and of how many tasks they are; most of them nobody will read. */
function rankedPlaces(trajectories: TrajectoryBatch, { lost, won, perTask }: CandidateOptions) {
  const { ids, groups, groupOf } = trajectories;
  const isTree = trajectories.parentOf.some((parent) => parent >= 0);
  const size = groupRows(trajectories).reduce((most, { rows }) => Math.max(most, rows.length), 0);
  const places = isTree ? placesOfTree(trajectories) : placesOfStates(trajectories);
  const { row, prefixTurns, continuations, successes } = places;
  const chance = (place: number) => (successes[place] + PRIOR) / (continuations[place] + 2 * PRIOR);
  const scores = new Float64Array(places.count);
  const known = new Map<number, number>();
  const isBefore = (a: number, b: number) =>
    scores[a] > scores[b] || (scores[a] === scores[b] && prefixTurns[a] < prefixTurns[b]);
  // by task the best places, best first: of equal ones the earlier
  const bestOf = new Map<string, number[]>();
  for (let place = 0; place < places.count; place++) {
    const success = chance(place);
    if (success <= lost || success >= won) continue;
    const ended = continuations[place] * (size + 1) + successes[place];
    let score = known.get(ended);
    if (score === undefined) {
      score = mixedOutcomes(success, size) / Math.sqrt(continuations[place] + 1);
      known.set(ended, score);
    }
    scores[place] = score;
    const task = groups[groupOf[row[place]]];
    let best = bestOf.get(task);
    if (!best) bestOf.set(task, (best = []));
    if (best.length === perTask && !isBefore(place, best[perTask - 1])) continue;
    let at = best.length;
    while (at > 0 && isBefore(place, best[at - 1])) at--;
    best.splice(at, 0, place);
    if (best.length > perTask) best.pop();
  }
  const ranked = [...bestOf.values()]
    .flat()
    .sort((a, b) => scores[b] - scores[a] || prefixTurns[a] - prefixTurns[b] || a - b);
  const candidateAt = (place: number): RestartCandidate => ({
    task: groups[groupOf[row[place]]],
    trajectory: ids[row[place]],
    prefixTurns: prefixTurns[place],
    continuations: continuations[place],
    success: chance(place),
    score: scores[place],
    reason: `${successes[place]} of ${continuations[place]} succeeded from here`,
  });
  return { ranked, tasks: bestOf.size, candidateAt };
}

/** Turns that another one followed, in the order of the tree's nodes. */
function placesOfTree(trajectories: TrajectoryBatch): RestartPlaces {
  const tree = trajectoryTree(trajectories);
  const { mean, leaves } = nodeMeans(tree, successOf(trajectories), 'leaves');
  const { nodeCount, parentNode, turnOf, depth } = tree;
  const owner = trajectoryOfTurns(trajectories);
  const hasChild = new Uint8Array(nodeCount);
  for (let n = 0; n < nodeCount; n++) if (parentNode[n] >= 0) hasChild[parentNode[n]] = 1;
  const places = placesFor(nodeCount);
  let count = 0;
  for (let n = 0; n < nodeCount; n++) {
    if (turnOf[n] < 0 || hasChild[n] === 0 || leaves[n] === 0) continue;
    places.row[count] = owner[turnOf[n]];
    places.prefixTurns[count] = depth[n];
    places.continuations[count] = leaves[n];
    places.successes[count++] = Math.round(mean[n] * leaves[n]);
  }
  return { ...places, count };
}

/** The states that two rollouts of a group saw, after their first turn: group after group, each as it was first seen. */
function placesOfStates(trajectories: TrajectoryBatch): RestartPlaces {
  const { turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const { placeOf, count: visited } = placesOf(trajectories);
  const seen = placesFor(visited);
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
  const shared = order.subarray(0, found).filter((place) => seen.continuations[place] > 1);
  const ofShared = (values: Int32Array) => Int32Array.from(shared, (place) => values[place]);
  return {
    count: shared.length,
    row: ofShared(seen.row),
    prefixTurns: ofShared(seen.prefixTurns),
    continuations: ofShared(seen.continuations),
    successes: ofShared(seen.successes),
  };
}

function placesFor(count: number) {
  const numbers = () => new Int32Array(count);
  return { row: numbers(), prefixTurns: numbers(), continuations: numbers(), successes: numbers() };
}

const KEPT = 50;

export const restartCandidatesDiagnostic = defineDiagnostic({
  id: 'restart-candidates',
  version: 2,
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
    const { ranked, tasks, candidateAt } = rankedPlaces(trajectories, options);
    return { found: ranked.length, tasks, best: ranked.slice(0, KEPT).map(candidateAt) };
  },

  read(steps, { window }) {
    const byTask = new Map<string, RestartCandidate & { trainingStep: number }>();
    const listed = steps
      .slice(-window)
      .flatMap(({ trainingStep, figures }) => figures.best.map((candidate) => ({ trainingStep, ...candidate })))
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
