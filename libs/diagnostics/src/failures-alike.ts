import { hashesOf as textHashesOf, type TrajectoryBatch } from '#lib/dataset';
import { pairLabels } from '#lib/numeric';
import { successOf } from './groups.js';
import { mixed } from './mixed-hash.js';

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

export interface Leader {
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

/** Of clusters of these sizes; null: there is none. */
export function concentrationOf(sizes: readonly number[]) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total === 0) return { largestShare: null, effectiveClusters: null };
  return {
    largestShare: Math.max(...sizes) / total,
    effectiveClusters: 1 / sizes.reduce((sum, size) => sum + (size / total) ** 2, 0),
  };
}

/** The failures of a batch and what each of them did, its features as numbers from 0. */
export interface Done {
  /** in the order in which they are clustered */
  readonly failures: readonly number[];
  /** [turns] the feature that begins there; -1: none does */
  readonly featureOf: Int32Array;
  readonly featureCount: number;
  /** actions that a feature of this trajectory has */
  lengthAt(row: number): number;
}

/** Numbers the runs of `gram` actions of the failures, and the whole sequences of those that are shorter. */
export function whatWasDone(trajectories: TrajectoryBatch, gram: number): Done {
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

/** Clusters by their leaders, in the order in which these came. */
export function leadersOf({ turnOffsets }: TrajectoryBatch, done: Done, least: number): Leader[] {
  const { failures, featureOf } = done;
  const leaders: Leader[] = [];
  const entries = failures.reduce((sum, row) => sum + turnOffsets[row + 1] - turnOffsets[row] + 1, 0);
  // by feature a chain of the leaders that have it: all others are not alike
  const lastWith = new Int32Array(done.featureCount).fill(-1);
  const [leaderAt, before] = [new Int32Array(entries), new Int32Array(entries)];
  let chained = 0;
  const featuresOf = new Int32Array(failures.length);
  const shared = new Int32Array(failures.length);
  const lastOwner = new Int32Array(done.featureCount).fill(-1);
  // of this failure: its features, and the leaders that have one of them
  const features = new Int32Array(entries);
  const alike = new Int32Array(failures.length);
  for (const row of failures) {
    let featureCount = 0;
    let alikeCount = 0;
    const from = turnOffsets[row];
    const to = turnOffsets[row + 1];
    if (from === to) features[featureCount++] = 0;
    for (let turn = from; turn < to && featureOf[turn] >= 0; turn++) {
      if (lastOwner[featureOf[turn]] !== row) features[featureCount++] = featureOf[turn];
      lastOwner[featureOf[turn]] = row;
    }
    for (let f = 0; f < featureCount; f++) {
      for (let entry = lastWith[features[f]]; entry >= 0; entry = before[entry]) {
        if (shared[leaderAt[entry]]++ === 0) alike[alikeCount++] = leaderAt[entry];
      }
    }
    let nearest = -1;
    let best = -1;
    for (let l = 0; l < alikeCount; l++) {
      const leader = alike[l];
      const similarity = shared[leader] / (featuresOf[leader] + featureCount - shared[leader]);
      shared[leader] = 0;
      const isNearer = similarity > best || (similarity === best && leader < nearest);
      if (similarity >= least && isNearer) [nearest, best] = [leader, similarity];
    }
    if (nearest >= 0) {
      leaders[nearest].members.push(row);
      continue;
    }
    for (let f = 0; f < featureCount; f++) {
      leaderAt[chained] = leaders.length;
      before[chained] = lastWith[features[f]];
      lastWith[features[f]] = chained++;
    }
    featuresOf[leaders.length] = featureCount;
    leaders.push({ row, members: [row] });
  }
  return leaders;
}

/** Hashes of what a failure did, each once and the first of them only: they mean the same in every batch. */
export function hashesOf(trajectories: TrajectoryBatch, row: number, length: number, most: number): number[] {
  const { turnOffsets, actionKey, texts } = trajectories;
  const words = texts && textHashesOf(texts).actions;
  const wordOf = (key: number, word: number) => (key < 0 ? -1 : (words?.[2 * key + word] ?? key));
  const hashes = new Set<number>();
  for (let turn = turnOffsets[row]; turn <= turnOffsets[row + 1] - length && hashes.size < most; turn++) {
    let low = length;
    let high = length;
    for (let at = turn; at < turn + length; at++) {
      low = mixed(low, wordOf(actionKey[at], 0));
      high = mixed(high, wordOf(actionKey[at], 1));
    }
    hashes.add((high & 0x1fffff) * 2 ** 32 + (low >>> 0));
  }
  return [...hashes];
}
