/**
 * A label for every distinct pair, from 0 in order of first appearance. Chained, it labels triples and longer tuples.
 *
 *     label[i] = label[j]  ⇔  left[i] = left[j] and right[i] = right[j]
 *
 * Open addressing over int32, no string and no object per row.
 *
 * @param left, right [rows] -1 in either: the row belongs to no pair and gets -1
 * @returns labels [rows] and their number
 */
export function pairLabels(left: Int32Array, right: Int32Array): { labels: Int32Array; count: number } {
  const labels = new Int32Array(left.length);
  const slots = 2 ** Math.ceil(Math.log2(2 * left.length + 2));
  const firstRow = new Int32Array(slots).fill(-1);
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
