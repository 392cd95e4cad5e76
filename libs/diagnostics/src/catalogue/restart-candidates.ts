import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { groupRows, successOf } from '../groups.js';
import { anchorsOf } from '../anchors.js';
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

/** A place that rollouts went through, and how they ended. */
interface Place {
  readonly task: string;
  readonly trajectory: string;
  readonly prefixTurns: number;
  readonly continuations: number;
  readonly successes: number;
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
export function restartCandidates(
  trajectories: TrajectoryBatch,
  { lost, won, perTask }: CandidateOptions,
): RestartCandidate[] {
  const isTree = trajectories.parentOf.some((parent) => parent >= 0);
  const size = groupRows(trajectories).reduce((most, { rows }) => Math.max(most, rows.length), 0);
  const ranked = (isTree ? placesOfTree(trajectories) : placesOfStates(trajectories))
    .flatMap(({ successes, ...place }): RestartCandidate[] => {
      const { continuations: n } = place;
      const success = (successes + PRIOR) / (n + 2 * PRIOR);
      if (success <= lost || success >= won) return [];
      const score = mixedOutcomes(success, size) / Math.sqrt(n + 1);
      return [{ ...place, success, score, reason: `${successes} of ${n} succeeded from here` }];
    })
    .sort((a, b) => b.score - a.score || a.prefixTurns - b.prefixTurns);
  const taken = new Map<string, number>();
  return ranked.filter(({ task }) => {
    const n = (taken.get(task) ?? 0) + 1;
    taken.set(task, n);
    return n <= perTask;
  });
}

function placesOfTree(trajectories: TrajectoryBatch): Place[] {
  const { anchors } = anchorsOf(trajectories, successOf(trajectories));
  return anchors.flatMap(
    ({ at, group, depth, mean, continuations }) =>
    at === null || mean === null
      ? []
      : [{ task: group, trajectory: at.trajectory, prefixTurns: depth, continuations, successes: Math.round(mean * continuations) }], // prettier-ignore
  );
}

/** A state while it is counted: the rollout that came to it soonest, and the one that came last. */
interface Visited {
  row: number;
  last: number;
  prefixTurns: number;
  continuations: number;
  successes: number;
}

/** The states that two rollouts of a group saw, after their first turn. */
function placesOfStates(trajectories: TrajectoryBatch): Place[] {
  const { ids, turnOffsets, stateKey } = trajectories;
  const success = successOf(trajectories);
  return groupRows(trajectories).flatMap(({ name, rows }) => {
    const places = new Map<number, Visited>();
    for (const row of rows) {
      if (Number.isNaN(success[row])) continue;
      for (let turn = turnOffsets[row] + 1; turn < turnOffsets[row + 1]; turn++) {
        const key = stateKey[turn];
        if (key < 0 || key === stateKey[turnOffsets[row]]) continue;
        const prefixTurns = turn - turnOffsets[row];
        let known = places.get(key);
        if (!known) places.set(key, (known = { row, last: -1, prefixTurns, continuations: 0, successes: 0 }));
        if (prefixTurns < known.prefixTurns) [known.row, known.prefixTurns] = [row, prefixTurns];
        if (known.last === row) continue; // it was here before
        known.last = row;
        known.continuations++;
        known.successes += success[row];
      }
    }
    return [...places.values()]
      .filter(({ continuations }) => continuations > 1)
      .map(({ row, prefixTurns, continuations, successes }): Place => ({ task: name, trajectory: ids[row], prefixTurns, continuations, successes })); // prettier-ignore
  });
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
    const found = restartCandidates(trajectories, options);
    return { found: found.length, tasks: new Set(found.map(({ task }) => task)).size, best: found.slice(0, KEPT) };
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
