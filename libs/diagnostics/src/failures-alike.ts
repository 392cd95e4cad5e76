import { hashesOf as textHashesOf, type TrajectoryBatch } from '#lib/dataset';
import { pairLabels, scratchInts } from '#lib/numeric';
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

/** Failures clustered by what they did. A cluster is numbered from 0 as its leader, the failure that opened it, came. */
export interface Clusters {
  /** [failures] rows of the batch, in the order in which they are clustered */
  readonly failures: Int32Array;
  /** [failures] the cluster of each */
  readonly clusterOf: Int32Array;
  /** [clusters] the row of its leader */
  readonly leaders: Int32Array;
  /** [clusters] failures in it */
  readonly sizes: Int32Array;
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
  const clusters = clustersOf(trajectories, options);
  const { leaders, sizes } = clusters;
  const labels: (number | null)[] = ids.map(() => null);
  clusters.failures.forEach((row, f) => (labels[row] = clusters.clusterOf[f]));
  return {
    labels,
    clusters: membersOf(clusters, [...leaders.keys()]).map((members, cluster): FailureCluster => ({
      representative: ids[leaders[cluster]],
      size: members.length,
      tasks: new Set(members.map((row) => groups[groupOf[row]])).size,
      firstStep: Math.min(...members.map((row) => trainingStep[row])),
      lastStep: Math.max(...members.map((row) => trainingStep[row])),
    })),
    ...concentrationOf(sizes),
  };
}

/** Of clusters of these sizes; null: there is none. */
export function concentrationOf(sizes: Int32Array) {
  let total = 0;
  let largest = 0;
  let squares = 0;
  for (let c = 0; c < sizes.length; c++) {
    total += sizes[c];
    if (sizes[c] > largest) largest = sizes[c];
  }
  if (total === 0) return { largestShare: null, effectiveClusters: null };
  for (let c = 0; c < sizes.length; c++) squares += (sizes[c] / total) ** 2;
  return { largestShare: largest / total, effectiveClusters: 1 / squares };
}

/** The failures of a batch, clustered by their leaders. */
export function clustersOf(trajectories: TrajectoryBatch, { similarity, gram }: ClusterOptions): Clusters {
  const failures = failuresOf(trajectories);
  return clusteredBy(featuresOf(trajectories, failures, gram), failures, similarity);
}

/** Rows of the failures, by their training step, then as in the batch. */
function failuresOf(trajectories: TrajectoryBatch): Int32Array {
  const { trainingStep } = trajectories;
  const success = successOf(trajectories);
  const rows = failingRows(success.length);
  let count = 0;
  let isInOrder = true;
  for (let row = 0; row < success.length; row++) {
    if (!(success[row] < 1)) continue;
    if (count > 0 && trainingStep[row] < trainingStep[rows[count - 1]]) isInOrder = false;
    rows[count++] = row;
  }
  const failures = rows.slice(0, count);
  return isInOrder ? failures : failures.sort((a, b) => trainingStep[a] - trainingStep[b] || a - b);
}

const failingRows = scratchInts();

/** What failures did. */
interface Done {
  /** [failures + 1] into features: as many places as it has turns */
  readonly offsets: Int32Array;
  /** numbers from 0: those of a failure, one after the other; -1: that was all */
  readonly features: Int32Array;
  /** of a failure without a turn */
  readonly nothing: number;
  /** different ones */
  readonly count: number;
}

/** Numbers the runs of `gram` actions of failures, and the whole sequences of those that are shorter. */
function featuresOf({ turnOffsets, actionKey }: TrajectoryBatch, failures: Int32Array, gram: number): Done {
  const offsets = new Int32Array(failures.length + 1);
  for (let f = 0; f < failures.length; f++) {
    offsets[f + 1] = offsets[f] + turnOffsets[failures[f] + 1] - turnOffsets[failures[f]];
  }
  const turns = offsets[failures.length];
  const actions = actionsOf(turns);
  let greatest = -1;
  for (let f = 0; f < failures.length; f++) {
    const shift = turnOffsets[failures[f]] - offsets[f];
    for (let at = offsets[f]; at < offsets[f + 1]; at++) {
      actions[at] = actionKey[at + shift] + 1;
      if (actions[at] > greatest) greatest = actions[at];
    }
  }

  // of so many actions each; those of one more are told apart by them, and by the action after them
  let runs = { labels: actions, count: greatest + 1 };
  const next = nextOf(turns);
  const whole = wholeOf(failures.length);
  let shorter = 1; // the first is to have done nothing
  for (let length = 1; length < gram; length++) {
    for (let f = 0; f < failures.length; f++) {
      if (offsets[f + 1] - offsets[f] === length) whole[f] = shorter + runs.labels[offsets[f]];
      const end = offsets[f + 1] - length;
      for (let at = offsets[f]; at < end; at++) next[at] = actions[at + length];
      next.fill(-1, Math.max(offsets[f], end), offsets[f + 1]);
    }
    shorter += runs.count;
    runs = pairLabels(runs.labels, next);
  }
  const features = gram === 1 ? actions.slice() : runs.labels;
  for (let f = 0; f < failures.length; f++) {
    const length = offsets[f + 1] - offsets[f];
    if (length > 0 && length < gram) features[offsets[f]] = runs.count + whole[f];
  }
  return { offsets, features, nothing: runs.count, count: runs.count + shorter };
}

const actionsOf = scratchInts();
const nextOf = scratchInts();
const wholeOf = scratchInts();

/** @param least similarity with which a failure joins a leader */
function clusteredBy({ offsets, features, nothing, count }: Done, failures: Int32Array, least: number): Clusters {
  const clusterOf = new Int32Array(failures.length);
  const leaders = leadersOf(failures.length);
  const sizes = sizesOf(failures.length);
  let clusters = 0;
  // by feature a chain of the leaders that have it: all others are not alike
  const lastWith = lastWithOf(count).fill(-1);
  const entries = features.length + failures.length;
  const [leaderAt, before] = [leaderAtOf(entries), beforeOf(entries)];
  let chained = 0;
  const featuresOfLeader = featuresOfLeaders(failures.length);
  const shared = sharedOf(failures.length).fill(0);
  const lastOwner = lastOwnerOf(count).fill(-1);
  // of this failure: its features, each once, and the leaders that have one of them
  const own = ownOf(entries);
  const alike = alikeOf(failures.length);
  for (let f = 0; f < failures.length; f++) {
    let owned = 0;
    let alikeCount = 0;
    const from = offsets[f];
    const to = offsets[f + 1];
    if (from === to) own[owned++] = nothing;
    for (let at = from; at < to && features[at] >= 0; at++) {
      if (lastOwner[features[at]] === f) continue;
      lastOwner[features[at]] = f;
      own[owned++] = features[at];
    }
    for (let k = 0; k < owned; k++) {
      for (let entry = lastWith[own[k]]; entry >= 0; entry = before[entry]) {
        if (shared[leaderAt[entry]]++ === 0) alike[alikeCount++] = leaderAt[entry];
      }
    }
    let nearest = -1;
    let best = -1;
    for (let l = 0; l < alikeCount; l++) {
      const leader = alike[l];
      const similarity = shared[leader] / (featuresOfLeader[leader] + owned - shared[leader]);
      shared[leader] = 0;
      if (similarity < least || similarity < best || (similarity === best && leader > nearest)) continue;
      nearest = leader;
      best = similarity;
    }
    if (nearest >= 0) {
      clusterOf[f] = nearest;
      sizes[nearest]++;
      continue;
    }
    for (let k = 0; k < owned; k++) {
      leaderAt[chained] = clusters;
      before[chained] = lastWith[own[k]];
      lastWith[own[k]] = chained++;
    }
    featuresOfLeader[clusters] = owned;
    leaders[clusters] = failures[f];
    sizes[clusters] = 1;
    clusterOf[f] = clusters++;
  }
  return { failures, clusterOf, leaders: leaders.slice(0, clusters), sizes: sizes.slice(0, clusters) };
}

const leadersOf = scratchInts();
const sizesOf = scratchInts();
const lastWithOf = scratchInts();
const lastOwnerOf = scratchInts();
const leaderAtOf = scratchInts();
const beforeOf = scratchInts();
const featuresOfLeaders = scratchInts();
const sharedOf = scratchInts();
const ownOf = scratchInts();
const alikeOf = scratchInts();

/** [clusters asked for] rows of the failures in each */
export function membersOf({ failures, clusterOf, sizes }: Clusters, clusters: readonly number[]): number[][] {
  const members: number[][] = clusters.map(() => []);
  const place = placesOfClusters(sizes.length).fill(-1);
  for (let k = 0; k < clusters.length; k++) place[clusters[k]] = k;
  for (let f = 0; f < failures.length; f++) {
    if (place[clusterOf[f]] >= 0) members[place[clusterOf[f]]].push(failures[f]);
  }
  return members;
}

const placesOfClusters = scratchInts();

/**
 * Hashes of what a failure did, its features, each once and the first of them only: they mean the same in every batch.
 */
export function hashesOf(trajectories: TrajectoryBatch, row: number, gram: number, most: number): number[] {
  const { turnOffsets, actionKey, texts } = trajectories;
  const words = texts ? textHashesOf(texts).actions : null;
  const length = Math.min(gram, turnOffsets[row + 1] - turnOffsets[row]);
  const hashes = new Set<number>();
  for (let turn = turnOffsets[row]; turn <= turnOffsets[row + 1] - length && hashes.size < most; turn++) {
    let low = length;
    let high = length;
    for (let at = turn; at < turn + length; at++) {
      low = mixed(low, wordOf(words, actionKey[at], 0));
      high = mixed(high, wordOf(words, actionKey[at], 1));
    }
    hashes.add((high & 0x1fffff) * 2 ** 32 + (low >>> 0));
  }
  return [...hashes];
}

/** One of the two words of an action's hash; without texts its key. */
function wordOf(words: Uint32Array | null, key: number, word: number): number {
  return key < 0 ? -1 : (words?.[2 * key + word] ?? key);
}
