import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { clustersOf, concentrationOf, hashesOf, membersOf } from '../failures-alike.js';
import { oncePerWindow } from '../once-per-window.js';
import { counted, figure, percent } from '../sentences.js';

/**
 * |A ∩ B| / |A ∪ B|; 1 for two empty sets.
 *
 * @param b each of it once
 */
export function jaccard(a: ReadonlySet<number>, b: readonly number[]): number {
  let shared = 0;
  for (const feature of b) if (a.has(feature)) shared++;
  return likeness(shared, a.size, b.length);
}

/** Of two sets of these sizes that share so many. */
function likeness(shared: number, a: number, b: number): number {
  return a === 0 && b === 0 ? 1 : shared / (a + b - shared);
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
  version: 2,
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
    const clusters = clustersOf(trajectories, options);
    const largest = bestRows(clusters.sizes, KEPT_CLUSTERS);
    const members = membersOf(clusters, largest);
    const figures: Figures = {
      failures: clusters.failures.length,
      ...concentrationOf(clusters.sizes.toSorted().reverse()),
      clusters: largest.map((cluster, k) => ({
        representative: ids[clusters.leaders[cluster]],
        size: clusters.sizes[cluster],
        tasks: [...new Set(members[k].map((row) => groups[groupOf[row]]))].slice(0, KEPT_TASKS),
        features: hashesOf(trajectories, clusters.leaders[cluster], options.gram, KEPT_FEATURES),
      })),
    };
    return figures;
  },

  read(steps, { window, alike, manyTasks }) {
    const span = Math.min(window, steps.length);
    const now = waysOf(steps.slice(-window), alike);
    const failures = failuresIn(steps.slice(-window));
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
        ? `the commonest way to fail makes up ${percent(largest.size / failures)} of the failures of the last ${span === 1 ? 'training step' : counted(span, 'training step')}, over ${largest.tasks.size === 1 ? 'one task' : `${figure(largest.tasks.size)} tasks`}`
        : 'nothing failed in the last training steps',
      steps: steps.map(({ trainingStep, figures }, i) => ({
        trainingStep,
        values: {
          largestShare: figures.largestShare,
          effectiveClusters: figures.effectiveClusters,
          failures: figures.failures,
          growing: growingAt(steps, i, window, alike),
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
  readonly features: readonly number[];
  readonly tasks: Set<string>;
  size: number;
}

type Steps = readonly Measured<Figures>[];

/** The ways to fail of some training steps, the commonest first. A cluster belongs to the first way that it is like. */
function waysOf(steps: Steps, alike: number): Way[] {
  const ways: Way[] = [];
  // [feature] the ways that have it: a cluster is held against no others
  const waysWith = new Map<number, number[]>();
  for (const { trainingStep, figures } of steps) {
    for (const { representative, size, tasks, features } of figures.clusters) {
      const same = ways[firstAlike(ways, waysWith, features, alike)];
      if (same) {
        same.size += size;
        for (const task of tasks) same.tasks.add(task);
        continue;
      }
      for (const feature of features) {
        const having = waysWith.get(feature);
        if (having) having.push(ways.length);
        else waysWith.set(feature, [ways.length]);
      }
      ways.push({ representative, trainingStep, features, size, tasks: new Set(tasks) });
    }
  }
  return ways.sort((a, b) => b.size - a.size).slice(0, MAX_EVIDENCE);
}

/** -1: none is. */
function firstAlike(
  ways: readonly Way[],
  waysWith: ReadonlyMap<number, readonly number[]>,
  features: readonly number[],
  alike: number,
): number {
  // what shares nothing is alike where there is nothing to share
  if (features.length === 0) return ways.findIndex((way) => way.features.length === 0);
  const shared = new Map<number, number>();
  for (const feature of features) {
    for (const way of waysWith.get(feature) ?? []) shared.set(way, (shared.get(way) ?? 0) + 1);
  }
  let first = -1;
  for (const [way, count] of shared) {
    const isAlike = likeness(count, ways[way].features.length, features.length) >= alike;
    if (isAlike && (first < 0 || way < first)) first = way;
  }
  return first;
}

const failuresIn = (steps: Steps) => steps.reduce((sum, { figures }) => sum + figures.failures, 0);

/** 1: the commonest way of the window that ends here had a smaller share in each window before it; null: too early to say. */
function growingAt(steps: Steps, at: number, window: number, alike: number): number | null {
  const first = at + 1 - (GROWING_WINDOWS + 1) * window;
  return first < 0 ? null : growing(steps.slice(first, at + 1), window, alike);
}

const growing = oncePerWindow((steps: Steps, window: number, alike: number): number => {
  const windows = Array.from({ length: GROWING_WINDOWS + 1 }, (_, w) => steps.slice(w * window, (w + 1) * window));
  const [commonest] = waysOf(windows.at(-1)!, alike);
  if (!commonest || commonest.size < 2) return 0;
  const features = new Set(commonest.features);
  const shares = windows.map((some) => {
    const failures = failuresIn(some);
    const size = some
      .flatMap(({ figures }) => figures.clusters)
      .filter((cluster) => jaccard(features, cluster.features) >= alike)
      .reduce((sum, cluster) => sum + cluster.size, 0);
    return failures > 0 ? size / failures : 0;
  });
  return shares.every((share, w) => w === 0 || share > shares[w - 1]) ? 1 : 0;
});
