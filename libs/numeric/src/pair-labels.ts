import { repeatKeys } from './offsets.js';
import { scratchInts } from './scratch.js';
import { unsetInts } from './unset.js';

/** A table with a place for every possible pair may have so many places per row; beyond it pairs are looked up by hash. */
const PLACES_PER_ROW = 16;

/** What looks pairs up: of no use once all have their labels. */
const tableOf = scratchInts();

export interface PairLabels {
  readonly labels: Int32Array;
  readonly count: number;
}

/**
 * A label for every distinct pair, from 0 in order of first appearance. Chained, it labels triples and longer tuples.
 *
 *     label[i] = label[j]  ⇔  left[i] = left[j] and right[i] = right[j]
 *
 * No string and no object per row: where the keys are small, as interned keys are, a pair is a place in a table, else an
 * entry in a hash table of integers.
 *
 * @param left, right [rows] -1 in either: the row belongs to no pair and gets -1
 * @returns labels [rows] and their number
 */
export function pairLabels(left: Int32Array, right: Int32Array): PairLabels {
  const width = greatest(right) + 1;
  const places = (greatest(left) + 1) * width;
  return places <= PLACES_PER_ROW * left.length ? byPlace(left, right, width, places) : byHash(left, right);
}

/**
 * The same where the left key stands on each child of its row: a trajectory's group on each of its turns. What
 * `pairLabels(repeatKeys(keys, offsets), right)` says, without a column of children.
 *
 * @param keys [rows]
 * @param offsets [rows + 1]
 * @param right [children]
 */
export function repeatedPairLabels(keys: Int32Array, offsets: Int32Array, right: Int32Array): PairLabels {
  const width = greatest(right) + 1;
  // where equal keys stand side by side, one key's places serve the next as well
  const isSorted = isAscending(keys);
  const places = isSorted ? width : (greatest(keys) + 1) * width;
  if (places > PLACES_PER_ROW * right.length) return pairLabels(repeatKeys(keys, offsets), right);
  const isEach = offsets[0] === 0 && offsets[keys.length] === right.length;
  const labels = isEach ? unsetInts(right.length) : new Int32Array(right.length);
  const labelAt = tableOf(places).fill(0); // + 1, so that 0 is nothing yet
  let count = 0;
  let ofOthers = 0; // labels up to this were left in the places by keys before
  for (let i = 0; i < keys.length; i++) {
    if (isSorted && i > 0 && keys[i] > keys[i - 1]) ofOthers = count;
    const isNone = keys[i] < 0;
    const first = isSorted ? 0 : keys[i] * width;
    const end = offsets[i + 1];
    for (let k = offsets[i]; k < end; k++) {
      const key = right[k];
      if (isNone || key < 0) {
        labels[k] = -1;
        continue;
      }
      let label = labelAt[first + key];
      if (label <= ofOthers) {
        label = ++count;
        labelAt[first + key] = label;
      }
      labels[k] = label - 1;
    }
  }
  return { labels, count };
}

function isAscending(keys: Int32Array): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i] < keys[i - 1]) return false;
  return true;
}

/** [labels] the first row that has each. */
export function firstRows({ labels, count }: PairLabels): Int32Array {
  const rows = new Int32Array(count).fill(-1);
  for (let i = 0; i < labels.length; i++) if (labels[i] >= 0 && rows[labels[i]] < 0) rows[labels[i]] = i;
  return rows;
}

function greatest(keys: Int32Array): number {
  let greatest = -1;
  for (let i = 0; i < keys.length; i++) if (keys[i] > greatest) greatest = keys[i];
  return greatest;
}

function byPlace(left: Int32Array, right: Int32Array, width: number, places: number): PairLabels {
  const labels = new Int32Array(left.length);
  const labelAt = tableOf(places).fill(0); // + 1, so that 0 is nothing yet
  let count = 0;
  for (let i = 0; i < left.length; i++) {
    if (left[i] < 0 || right[i] < 0) {
      labels[i] = -1;
      continue;
    }
    const place = left[i] * width + right[i];
    let label = labelAt[place];
    if (label === 0) {
      label = ++count;
      labelAt[place] = label;
    }
    labels[i] = label - 1;
  }
  return { labels, count };
}

/** Open addressing: a row's slot holds the first row of its pair. */
function byHash(left: Int32Array, right: Int32Array): PairLabels {
  const labels = new Int32Array(left.length);
  const slots = 2 ** Math.ceil(Math.log2(2 * left.length + 2));
  const firstRow = tableOf(slots).fill(-1);
  let count = 0;
  for (let i = 0; i < left.length; i++) {
    if (left[i] < 0 || right[i] < 0) {
      labels[i] = -1;
      continue;
    }
    let slot = mixed(left[i], right[i]) & (slots - 1);
    while (firstRow[slot] >= 0 && (left[firstRow[slot]] !== left[i] || right[firstRow[slot]] !== right[i])) {
      slot = (slot + 1) & (slots - 1);
    }
    if (firstRow[slot] < 0) {
      firstRow[slot] = i;
      labels[i] = count++;
    } else {
      labels[i] = labels[firstRow[slot]];
    }
  }
  return { labels, count };
}

/** Murmur3's finalizer over both: neighbouring keys, the usual case, land far apart. */
function mixed(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
