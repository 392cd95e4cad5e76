import type { TrajectoryBatch } from '#lib/dataset';
import { hash53, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { successOf } from '../groups.js';
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
  /** the failure that opened it */
  readonly row: number;
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
  const leaders = leadersOf(trajectories, whatWasDone(trajectories, options.gram), options.similarity);
  const labels: (number | null)[] = ids.map(() => null);
  leaders.forEach(({ members }, label) => members.forEach((row) => (labels[row] = label)));
  const sizes = leaders.map(({ members }) => members.length);
  return {
    labels,
    clusters: leaders.map(({ row: first, members }): FailureCluster => ({
      representative: ids[first],
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

/** The failures of a batch and what each of them did, its features as numbers from 0. */
interface Done {
  /** in the order in which they are clustered */
  readonly failures: readonly number[];
  /** [turns] the feature that begins there; -1: none does */
  readonly featureOf: Int32Array;
  readonly featureCount: number;
  /** actions that a feature of this trajectory has */
  lengthAt(row: number): number;
}

/** Numbers the runs of `gram` actions of the failures, and the whole sequences of those that are shorter. */
function whatWasDone(trajectories: TrajectoryBatch, gram: number): Done {
  const { trainingStep, turnOffsets, actionKey } = trajectories;
  const success = successOf(trajectories);
  const failures: number[] = [];
  for (let row = 0; row < success.length; row++) if (success[row] < 1) failures.push(row);
  failures.sort((a, b) => trainingStep[a] - trainingStep[b] || a - b);
  const lengthAt = (row: number) => Math.min(gram, turnOffsets[row + 1] - turnOffsets[row]);

  const featureOf = new Int32Array(actionKey.length).fill(-1);
  const runOf = new Int32Array(actionKey.length).fill(-1);
  for (const row of failures) runOf.fill(0, turnOffsets[row], turnOffsets[row + 1]);
  const next = new Int32Array(actionKey.length);
  let featureCount = 1; // 0 is to have done nothing
  for (let length = 1; length <= gram; length++) {
    for (const row of failures) {
      // runs of so many actions are told apart by those of one less, and the action after them
      const end = turnOffsets[row + 1] - length + 1;
      for (let turn = turnOffsets[row]; turn < end; turn++) next[turn] = actionKey[turn + length - 1] + 1;
      runOf.fill(-1, Math.max(turnOffsets[row], end), turnOffsets[row + 1]);
    }
    const { labels, count } = pairLabels(runOf, next);
    for (const row of failures) {
      if (lengthAt(row) !== length) continue;
      const end = turnOffsets[row + 1] - length + 1;
      for (let turn = turnOffsets[row]; turn < end; turn++) featureOf[turn] = featureCount + labels[turn];
    }
    featureCount += count;
    runOf.set(labels);
  }
  return { failures, featureOf, featureCount, lengthAt };
}

function leadersOf({ turnOffsets }: TrajectoryBatch, done: Done, least: number): Leader[] {
  const { failures, featureOf, featureCount } = done;
  const leaders: Leader[] = [];
  const entries = failures.reduce((sum, row) => sum + turnOffsets[row + 1] - turnOffsets[row] + 1, 0);
  // by feature a chain of the leaders that have it: all others are not alike
  const lastWith = new Int32Array(featureCount).fill(-1);
  const [leaderAt, before] = [new Int32Array(entries), new Int32Array(entries)];
  let chained = 0;
  const featuresOf = new Int32Array(failures.length);
  const shared = new Int32Array(failures.length);
  const lastOwner = new Int32Array(featureCount).fill(-1);
  for (const row of failures) {
    const features: number[] = [];
    const [from, to] = [turnOffsets[row], turnOffsets[row + 1]];
    if (from === to) features.push(0);
    for (let turn = from; turn < to && featureOf[turn] >= 0; turn++) {
      if (lastOwner[featureOf[turn]] !== row) features.push(featureOf[turn]);
      lastOwner[featureOf[turn]] = row;
    }
    const alike: number[] = [];
    for (const feature of features) {
      for (let entry = lastWith[feature]; entry >= 0; entry = before[entry]) {
        if (shared[leaderAt[entry]]++ === 0) alike.push(leaderAt[entry]);
      }
    }
    let [nearest, best] = [-1, -1];
    for (const leader of alike) {
      const similarity = shared[leader] / (featuresOf[leader] + features.length - shared[leader]);
      shared[leader] = 0;
      const isNearer = similarity > best || (similarity === best && leader < nearest);
      if (similarity >= least && isNearer) [nearest, best] = [leader, similarity];
    }
    if (nearest >= 0) {
      leaders[nearest].members.push(row);
      continue;
    }
    for (const feature of features) {
      leaderAt[chained] = leaders.length;
      before[chained] = lastWith[feature];
      lastWith[feature] = chained++;
    }
    featuresOf[leaders.length] = features.length;
    leaders.push({ row, members: [row] });
  }
  return leaders;
}

/** Hashes of what a failure did, each once and the first of them only: they mean the same in every batch. */
function hashesOf(trajectories: TrajectoryBatch, row: number, length: number, most: number): number[] {
  const { turnOffsets, actionKey, texts } = trajectories;
  const hashes = new Set<number>();
  for (let turn = turnOffsets[row]; turn <= turnOffsets[row + 1] - length && hashes.size < most; turn++) {
    const keys = actionKey.subarray(turn, turn + length);
    hashes.add(hash53(JSON.stringify(Array.from(keys, (key) => (key < 0 ? null : (texts?.actions[key] ?? key))))));
  }
  return [...hashes];
}

/** |A ∩ B| / |A ∪ B|; 1 for two empty sets. */
export function jaccard(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const feature of small) if (large.has(feature)) shared++;
  return shared / (a.size + b.size - shared);
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
    const done = whatWasDone(trajectories, options.gram);
    const leaders = leadersOf(trajectories, done, options.similarity);
    leaders.sort((a, b) => b.members.length - a.members.length);
    const figures: Figures = {
      failures: done.failures.length,
      ...concentrationOf(leaders.map(({ members }) => members.length)),
      clusters: leaders.slice(0, KEPT_CLUSTERS).map(({ row: first, members }) => ({
        representative: ids[first],
        size: members.length,
        tasks: [...new Set(members.map((row) => groups[groupOf[row]]))].slice(0, KEPT_TASKS),
        features: hashesOf(trajectories, first, done.lengthAt(first), KEPT_FEATURES),
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
