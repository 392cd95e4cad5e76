import type { TrajectoryBatch } from '#lib/dataset';
import { hash53 } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { successOf, widthOf } from '../groups.js';
import { counted, figure, percent } from '../sentences.js';

export interface ClusterOptions {
  /** Jaccard similarity from which a failure joins */
  readonly similarity: number;
  /** actions of a feature */
  readonly gram: number;
}

export interface FailureCluster {
  /** the failure that opened it */
  readonly representative: string;
  readonly size: number;
  readonly tasks: number;
  readonly firstStep: number;
  readonly lastStep: number;
}

interface Leader {
  readonly representative: string;
  readonly features: ReadonlySet<number>;
  readonly members: number[];
}

/**
 * Failures that did the same: leader clustering by what was done.
 *
 *     features    set of all runs of `gram` actions; the whole sequence where it is shorter
 *     a failure   joins the most similar leader with Jaccard ≥ similarity, the first of equals, else becomes one
 *
 * in the order of the training step, then of the batch. largestShare: of failures in the largest cluster;
 * effectiveClusters: 1 / Σ share². A trajectory without an outcome is no failure. Source: ours.
 *
 * @returns labels [trajectories] null: no failure
 */
export function failureClusters(trajectories: TrajectoryBatch, options: ClusterOptions) {
  const { ids, groups, groupOf, trainingStep } = trajectories;
  const leaders = leadersOf(trajectories, options);
  const labels: (number | null)[] = ids.map(() => null);
  leaders.forEach(({ members }, label) => members.forEach((row) => (labels[row] = label)));
  const sizes = leaders.map(({ members }) => members.length);
  return {
    labels,
    clusters: leaders.map(({ representative, members }): FailureCluster => ({
      representative,
      size: members.length,
      tasks: new Set(members.map((row) => groups[groupOf[row]])).size,
      firstStep: Math.min(...members.map((row) => trainingStep[row])),
      lastStep: Math.max(...members.map((row) => trainingStep[row])),
    })),
    ...concentrationOf(sizes),
  };
}

function concentrationOf(sizes: readonly number[]) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total === 0) return { largestShare: null, effectiveClusters: null };
  return {
    largestShare: Math.max(...sizes) / total,
    effectiveClusters: 1 / sizes.reduce((sum, size) => sum + (size / total) ** 2, 0),
  };
}

function leadersOf(trajectories: TrajectoryBatch, { similarity, gram }: ClusterOptions): Leader[] {
  const { ids, trainingStep } = trajectories;
  const success = successOf(trajectories);
  const failures = [...ids.keys()]
    .filter((row) => success[row] < 1)
    .sort((a, b) => trainingStep[a] - trainingStep[b] || a - b);
  const leaders: Leader[] = [];
  const leadersWith = new Map<number, number[]>();
  const width = widthOf(trajectories.actionKey);
  const known = new Map<number | string, number>();
  for (const row of failures) {
    const features = featuresOf(trajectories, row, gram, width, known);
    const nearest = nearestOf(leaders, leadersWith, features, similarity);
    if (nearest) {
      nearest.members.push(row);
      continue;
    }
    for (const feature of features) {
      const same = leadersWith.get(feature);
      if (same) same.push(leaders.length);
      else leadersWith.set(feature, [leaders.length]);
    }
    leaders.push({ representative: ids[row], features, members: [row] });
  }
  return leaders;
}

/** @param leadersWith by feature the leaders that have it: all others are not alike */
function nearestOf(
  leaders: readonly Leader[],
  leadersWith: ReadonlyMap<number, readonly number[]>,
  features: ReadonlySet<number>,
  least: number,
): Leader | null {
  const shared = new Map<number, number>();
  for (const feature of features) {
    for (const leader of leadersWith.get(feature) ?? []) shared.set(leader, (shared.get(leader) ?? 0) + 1);
  }
  let [nearest, best] = [-1, -1];
  for (const [leader, both] of shared) {
    const similarity = both / (leaders[leader].features.size + features.size - both);
    const isNearer = similarity > best || (similarity === best && leader < nearest);
    if (similarity >= least && isNearer) [nearest, best] = [leader, similarity];
  }
  return nearest < 0 ? null : leaders[nearest];
}

/** |A ∩ B| / |A ∪ B|; 1 for two empty sets. */
export function jaccard(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const feature of small) if (large.has(feature)) shared++;
  return shared / (a.size + b.size - shared);
}

/** Hashes of what was done: they mean the same in every batch. */
function featuresOf(
  { turnOffsets, actionKey, texts }: TrajectoryBatch,
  row: number,
  gram: number,
  width: number,
  known: Map<number | string, number>,
) {
  const [from, to] = [turnOffsets[row], turnOffsets[row + 1]];
  const length = Math.min(gram, to - from);
  const features = new Set<number>();
  for (let turn = from; turn <= to - length; turn++) {
    const keys = actionKey.subarray(turn, turn + length);
    const place = length === 2 ? keys[0] * width + keys[1] : keys.join(' ');
    const feature = known.get(place) ?? hash53(JSON.stringify(Array.from(keys, (key) => (key < 0 ? null : (texts?.actions[key] ?? key))))); // prettier-ignore
    known.set(place, feature);
    features.add(feature);
  }
  return features;
}

/** What is kept of one training step: its largest clusters. */
interface Figures {
  readonly failures: number;
  readonly largestShare: number | null;
  readonly effectiveClusters: number | null;
  readonly clusters: readonly {
    readonly representative: string;
    readonly size: number;
    readonly tasks: readonly string[];
    readonly features: readonly number[];
  }[];
}

const KEPT_CLUSTERS = 12;
const KEPT_FEATURES = 64;
const KEPT_TASKS = 20;
/** Windows of training steps over which a cluster has to grow, one after the other. */
const GROWING_WINDOWS = 3;

export const failureClustersDiagnostic = defineDiagnostic({
  id: 'failure-clusters',
  version: 1,
  title: 'Ways to fail',
  question: 'Do many failures do the same, and does one way to fail spread?',
  remedy:
    'A way to fail over many tasks is the agent’s: show it what it does. Over one task it is the task’s: check it.',
  headline: 'windowShare',
  level: 'run',
  status: 'own',
  source: 'ours',
  requires: ['turn.action', 'trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({
    similarity: z
      .number()
      .gt(0)
      .max(1)
      .default(0.6)
      .describe('share of equal action pairs from which failures are alike'),
    gram: z.int().min(1).max(8).default(2).describe('actions in a row that are compared'),
  }),
  thresholds: z.strictObject({
    window: z.int().min(1).max(50).default(5).describe('training steps over which a way to fail is counted'),
    alike: z.number().gt(0).max(1).default(0.6).describe('similarity from which ways of different steps are the same'),
    manyTasks: z.int().min(2).default(5).describe('tasks from which a way to fail is the agent’s'),
  }),

  measure({ trajectories }, options) {
    const { groups, groupOf, ids } = trajectories;
    if (ids.length === 0) return null;
    const leaders = leadersOf(trajectories, options).sort((a, b) => b.members.length - a.members.length);
    const sizes = leaders.map(({ members }) => members.length);
    const figures: Figures = {
      failures: sizes.reduce((sum, size) => sum + size, 0),
      ...concentrationOf(sizes),
      clusters: leaders.slice(0, KEPT_CLUSTERS).map(({ representative, features, members }) => ({
        representative,
        size: members.length,
        tasks: [...new Set(members.map((row) => groups[groupOf[row]]))].slice(0, KEPT_TASKS),
        features: [...features].slice(0, KEPT_FEATURES),
      })),
    };
    return figures;
  },

  read(steps, { window, alike, manyTasks }) {
    const all = steps.map(opened);
    const now = waysOf(all.slice(-window), alike);
    const failures = failuresIn(all.slice(-window));
    const last = steps.at(-1)!.figures;
    const largest = now[0];
    const { largestShare, effectiveClusters } = last;
    return {
      values: {
        largestShare,
        effectiveClusters,
        failures: last.failures,
        windowShare: largest ? largest.size / failures : null,
        agentWays: now.filter(({ tasks }) => tasks.size >= manyTasks).length,
      },
      reasons: {
        ...(largestShare === null ? { largestShare: 'nothing failed', effectiveClusters: 'nothing failed' } : {}),
        ...(largest ? {} : { windowShare: 'nothing failed' }),
      },
      sentence: largest
        ? `the commonest way to fail makes up ${percent(largest.size / failures)} of the failures of the last ${counted(Math.min(window, steps.length), 'training step')}, over ${largest.tasks.size === 1 ? 'one task' : `${figure(largest.tasks.size)} tasks`}`
        : 'nothing failed in the last training steps',
      steps: steps.map(({ trainingStep, figures }, i) => ({
        trainingStep,
        values: {
          largestShare: figures.largestShare,
          effectiveClusters: figures.effectiveClusters,
          failures: figures.failures,
          growing: growingAt(all, i, window, alike),
        },
        observations: figures.failures,
      })),
      evidence: now.slice(0, MAX_EVIDENCE).map(({ representative, trainingStep, size, tasks }) => ({
        trainingStep,
        trajectory: representative,
        note: `${size} failures over ${tasks.size === 1 ? 'one task' : `${tasks.size} tasks`} do the same`,
      })),
      detail: {
        clusters: now.map(({ representative, trainingStep, size, tasks }) => ({
          representative,
          trainingStep,
          size,
          share: size / failures,
          tasks: [...tasks].slice(0, KEPT_TASKS),
          fault: tasks.size >= manyTasks ? 'agent' : tasks.size === 1 ? 'task' : null,
        })),
      },
    };
  },

  rules: () => [
    {
      id: 'spreading',
      level: 'info',
      all: [{ value: 'growing', op: '>=', limit: 1 }],
      minimum: 2,
      hold: { of: 1 },
      says: `one way to fail has grown over ${GROWING_WINDOWS} windows running`,
    },
  ],
});

interface Way {
  readonly representative: string;
  /** of the representative */
  readonly trainingStep: number;
  readonly features: ReadonlySet<number>;
  readonly tasks: Set<string>;
  size: number;
}

/** A training step with the features of its clusters as sets. */
interface Opened {
  readonly trainingStep: number;
  readonly failures: number;
  readonly clusters: readonly {
    readonly representative: string;
    readonly size: number;
    readonly tasks: readonly string[];
    readonly features: ReadonlySet<number>;
  }[];
}

function opened({ trainingStep, figures }: Measured<Figures>): Opened {
  const clusters = figures.clusters.map((cluster) => ({ ...cluster, features: new Set(cluster.features) }));
  return { trainingStep, failures: figures.failures, clusters };
}

/** The ways to fail of some training steps, the commonest first. */
function waysOf(steps: readonly Opened[], alike: number): Way[] {
  const ways: Way[] = [];
  for (const { trainingStep, clusters } of steps) {
    for (const { representative, size, tasks, features } of clusters) {
      const same = ways.find((way) => jaccard(way.features, features) >= alike);
      if (same) {
        same.size += size;
        for (const task of tasks) same.tasks.add(task);
      } else ways.push({ representative, trainingStep, features, size, tasks: new Set(tasks) });
    }
  }
  return ways.sort((a, b) => b.size - a.size).slice(0, MAX_EVIDENCE);
}

const failuresIn = (steps: readonly Opened[]) => steps.reduce((sum, { failures }) => sum + failures, 0);

/** 1: the commonest way of the window that ends here had a smaller share in each window before it; null: too early to say. */
function growingAt(steps: readonly Opened[], at: number, window: number, alike: number): number | null {
  const windows = Array.from({ length: GROWING_WINDOWS + 1 }, (_, w) => {
    const end = at + 1 - w * window;
    return steps.slice(Math.max(0, end - window), Math.max(0, end));
  }).reverse();
  if (at + 1 < (GROWING_WINDOWS + 1) * window) return null;
  const [commonest] = waysOf(windows.at(-1)!, alike);
  if (!commonest || commonest.size < 2) return 0;
  const shares = windows.map((some) => {
    const failures = failuresIn(some);
    const size = some
      .flatMap(({ clusters }) => clusters)
      .filter(({ features }) => jaccard(commonest.features, features) >= alike)
      .reduce((sum, cluster) => sum + cluster.size, 0);
    return failures > 0 ? size / failures : 0;
  });
  return shares.every((share, w) => w === 0 || share > shares[w - 1]) ? 1 : 0;
}
