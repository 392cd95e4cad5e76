/** A text with the index that a comparison looks it up by: what difflib keeps of its second sequence. */
export interface IndexedText {
  /** [length] code points */
  readonly codes: Uint32Array;
  /** [length] slot of each */
  readonly slots: Int32Array;
  /** code point → slot */
  readonly slotOf: ReadonlyMap<number, number>;
  /** [slots] how often it occurs */
  readonly counts: Int32Array;
  /** [slots + 1] into positions; a popular character has none */
  readonly offsets: Int32Array;
  /** ascending per slot */
  readonly positions: Int32Array;
}

/** From this length on difflib drops characters that make up more than about 1 % of the text from the index. */
const POPULAR_FROM = 200;

/** Characters (code points, not UTF-16 units) and where each occurs. */
export function indexText(text: string): IndexedText {
  const read = new Uint32Array(text.length);
  const slotsRead = new Int32Array(text.length);
  const slotOf = new Map<number, number>();
  const slotOfAscii = new Int32Array(128); // + 1, so that 0 is none yet
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!;
    if (code > 0xffff) at++;
    let slot = code < 128 ? slotOfAscii[code] - 1 : (slotOf.get(code) ?? -1);
    if (slot < 0) {
      slot = slotOf.size;
      slotOf.set(code, slot);
      if (code < 128) slotOfAscii[code] = slot + 1;
    }
    read[length] = code;
    slotsRead[length++] = slot;
  }
  const [codes, slots] = [read.subarray(0, length), slotsRead.subarray(0, length)];
  const counts = new Int32Array(slotOf.size);
  for (let j = 0; j < length; j++) counts[slots[j]]++;

  const most = length >= POPULAR_FROM ? Math.floor(length / 100) + 1 : Infinity;
  const offsets = new Int32Array(counts.length + 1);
  for (let s = 0; s < counts.length; s++) offsets[s + 1] = offsets[s] + (counts[s] > most ? 0 : counts[s]);
  const positions = new Int32Array(offsets[counts.length]);
  const filled = offsets.slice();
  for (let j = 0; j < length; j++) if (counts[slots[j]] <= most) positions[filled[slots[j]]++] = j;
  return { codes, slots, slotOf, counts, offsets, positions };
}

/**
 * Similarity of two texts as CPython's `difflib.SequenceMatcher(None, a, b).ratio()` gives it (Ratcliff-Obershelp).
 *
 *     ratio = 2 M / (|a| + |b|)      M: characters in the matching blocks, found longest first, left and right of it again
 *
 * 1 for two empty texts. Not symmetric: which of several longest blocks is taken depends on the order, and popular
 * characters are dropped from the index of b alone. Texts that are compared often are indexed once, beforehand.
 */
export function textSimilarity(a: string | IndexedText, b: string | IndexedText): number {
  const left = typeof a === 'string' ? indexText(a) : a;
  const right = typeof b === 'string' ? indexText(b) : b;
  return ratio(matchingCharacters(left, right), left, right);
}

/**
 * Whether `textSimilarity(a, b) >= threshold`, most often known from the lengths or from the letters they share
 * before any block is searched. Both bounds are above the ratio, so the answer is the same.
 */
export function areSimilar(a: IndexedText, b: IndexedText, threshold: number): boolean {
  if (ratio(Math.min(a.codes.length, b.codes.length), a, b) < threshold) return false;
  if (ratio(sharedCharacters(a, b), a, b) < threshold) return false;
  return ratio(matchingCharacters(a, b), a, b) >= threshold;
}

function ratio(matches: number, a: IndexedText, b: IndexedText): number {
  const length = a.codes.length + b.codes.length;
  return length === 0 ? 1 : (2 * matches) / length;
}

function sharedCharacters(a: IndexedText, b: IndexedText): number {
  let shared = 0;
  for (const [code, slot] of a.slotOf) {
    const other = b.slotOf.get(code);
    if (other !== undefined) shared += Math.min(a.counts[slot], b.counts[other]);
  }
  return shared;
}

/** The longest common block of a window. */
interface Block {
  i: number;
  j: number;
  size: number;
}

/** Pairs of equal characters, of which the common runs are kept; more are sought anew in each window. */
const KEPT_PAIRS = 2 ** 18;

/** M of the ratio: the longest block of each window, then of the windows before and after it. */
function matchingCharacters(a: IndexedText, b: IndexedText): number {
  // [slots of a] its slot in b; -1: none
  const slotIn = new Int32Array(a.counts.length).fill(-1);
  let pairs = 0;
  for (const [code, slot] of a.slotOf) {
    const other = b.slotOf.get(code);
    if (other === undefined) continue;
    slotIn[slot] = other;
    pairs += a.counts[slot] * (b.offsets[other + 1] - b.offsets[other]);
  }
  const slots = new Int32Array(a.slots.length);
  for (let i = 0; i < slots.length; i++) slots[i] = slotIn[a.slots[i]];
  const search = pairs <= KEPT_PAIRS ? keptSearch(slots, b, pairs) : blockSearch(slots, b);

  const windows = [0, a.codes.length, 0, b.codes.length];
  const block = { i: 0, j: 0, size: 0 };
  let matches = 0;
  while (windows.length > 0) {
    const bTo = windows.pop()!;
    const bFrom = windows.pop()!;
    const aTo = windows.pop()!;
    const aFrom = windows.pop()!;
    search(block, aFrom, aTo, bFrom, bTo);
    grow(block, a.codes, b.codes, aFrom, aTo, bFrom, bTo);
    const { i, j, size } = block;
    if (size === 0) continue;
    matches += size;
    if (aFrom < i && bFrom < j) windows.push(aFrom, i, bFrom, j);
    if (i + size < aTo && j + size < bTo) windows.push(i + size, aTo, j + size, bTo);
  }
  return matches;
}

/** To both sides, popular characters included: so these match next to a block, or where there is none, at the window's start. */
function grow(
  block: Block,
  a: Uint32Array,
  b: Uint32Array,
  aFrom: number,
  aTo: number,
  bFrom: number,
  bTo: number,
): void {
  let { i, j, size } = block;
  while (i > aFrom && j > bFrom && a[i - 1] === b[j - 1]) {
    i--;
    j--;
    size++;
  }
  while (i + size < aTo && j + size < bTo && a[i + size] === b[j + size]) size++;
  [block.i, block.j, block.size] = [i, j, size];
}

type Search = (best: Block, aFrom: number, aTo: number, bFrom: number, bTo: number) => void;

/**
 * What `blockSearch` finds, from the runs of the whole texts: one that ends at a pair of characters is in a window as long
 * as it is, or as it can be since the window's start.
 *
 * @param slots [length of a] slot in b; -1: none
 * @param pairs of equal characters, b's popular ones left out
 */
function keptSearch(slots: Int32Array, b: IndexedText, pairs: number): Search {
  const rows = new Int32Array(slots.length + 1);
  const places = new Int32Array(pairs);
  const runs = new Int32Array(pairs);
  // by j + 1: the run that ends there, of the row before this one, and which row it is of (from 1)
  const [run, rowOf] = [new Int32Array(b.codes.length + 1), new Int32Array(b.codes.length + 1)];
  for (let i = 0, at = 0; i < slots.length; i++) {
    const first = slots[i] < 0 ? 0 : b.offsets[slots[i]];
    const end = slots[i] < 0 ? 0 : b.offsets[slots[i] + 1];
    // from the back, so that what stands before is still of the row before
    for (let p = end - 1; p >= first; p--) {
      const j = b.positions[p];
      run[j + 1] = rowOf[j] === i ? run[j] + 1 : 1;
      rowOf[j + 1] = i + 1;
    }
    for (let p = first; p < end; p++, at++) {
      places[at] = b.positions[p];
      runs[at] = run[b.positions[p] + 1];
    }
    rows[i + 1] = at;
  }
  return (best, aFrom, aTo, bFrom, bTo) => {
    [best.i, best.j] = [aFrom, bFrom];
    let most = 0;
    for (let i = aFrom; i < aTo; i++) {
      for (let at = rows[i]; at < rows[i + 1]; at++) {
        if (runs[at] <= most) continue;
        const j = places[at];
        if (j < bFrom) continue;
        if (j >= bTo) break;
        const size = Math.min(runs[at], i - aFrom + 1, j - bFrom + 1);
        if (size <= most) continue;
        most = size;
        [best.i, best.j] = [i - size + 1, j - size + 1];
      }
    }
    best.size = most;
  };
}

/**
 * Finds the longest common block of a window through the index; of several the one that starts first in a, then first in b.
 *
 * @param slots [length of a] slot in b; -1: none
 */
function blockSearch(slots: Int32Array, b: IndexedText): Search {
  // runs[j + 1]: length of the common run that ends at j and the row's character; one row back, and this row.
  let previous = new Int32Array(b.codes.length + 1);
  let current = new Int32Array(b.codes.length + 1);

  return (best, aFrom, aTo, bFrom, bTo) => {
    const clear = (runs: Int32Array, slot: number) => {
      if (slot < 0) return;
      const end = b.offsets[slot + 1];
      for (let p = firstFrom(b, slot, bFrom); p < end && b.positions[p] < bTo; p++) runs[b.positions[p] + 1] = 0;
    };

    [best.i, best.j, best.size] = [aFrom, bFrom, 0];
    for (let i = aFrom; i < aTo; i++) {
      const slot = slots[i];
      const end = slot < 0 ? 0 : b.offsets[slot + 1];
      for (let p = slot < 0 ? 0 : firstFrom(b, slot, bFrom); p < end && b.positions[p] < bTo; p++) {
        const j = b.positions[p];
        const run = previous[j] + 1;
        current[j + 1] = run;
        if (run > best.size) [best.i, best.j, best.size] = [i - run + 1, j - run + 1, run];
      }
      if (i > aFrom) clear(previous, slots[i - 1]);
      [previous, current] = [current, previous];
    }
    if (aTo > aFrom) clear(previous, slots[aTo - 1]);
  };
}

/** The first entry of a slot's positions at or after `from`. */
function firstFrom({ offsets, positions }: IndexedText, slot: number, from: number): number {
  let low = offsets[slot];
  let high = offsets[slot + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
