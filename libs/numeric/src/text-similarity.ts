/** A text with the index that a comparison looks it up by: what difflib keeps of its second sequence. */
export interface IndexedText {
  /** [length] code points */
  readonly codes: Uint32Array;
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
  const codes = Uint32Array.from(text, (character) => character.codePointAt(0)!);
  const slotOf = new Map<number, number>();
  for (const code of codes) if (!slotOf.has(code)) slotOf.set(code, slotOf.size);
  const counts = new Int32Array(slotOf.size);
  for (const code of codes) counts[slotOf.get(code)!]++;

  const most = codes.length >= POPULAR_FROM ? Math.floor(codes.length / 100) + 1 : Infinity;
  const offsets = new Int32Array(counts.length + 1);
  for (let s = 0; s < counts.length; s++) offsets[s + 1] = offsets[s] + (counts[s] > most ? 0 : counts[s]);
  const positions = new Int32Array(offsets[counts.length]);
  const filled = offsets.slice();
  for (let j = 0; j < codes.length; j++) {
    const slot = slotOf.get(codes[j])!;
    if (counts[slot] <= most) positions[filled[slot]++] = j;
  }
  return { codes, slotOf, counts, offsets, positions };
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
  return ratio(matchingCharacters(left.codes, right), left, right);
}

/**
 * Whether `textSimilarity(a, b) >= threshold`, most often known from the lengths or from the letters they share
 * before any block is searched. Both bounds are above the ratio, so the answer is the same.
 */
export function areSimilar(a: IndexedText, b: IndexedText, threshold: number): boolean {
  if (ratio(Math.min(a.codes.length, b.codes.length), a, b) < threshold) return false;
  if (ratio(sharedCharacters(a, b), a, b) < threshold) return false;
  return ratio(matchingCharacters(a.codes, b), a, b) >= threshold;
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

/** M of the ratio: the longest block of each window, then of the windows before and after it. */
function matchingCharacters(a: Uint32Array, b: IndexedText): number {
  const search = blockSearch(a, b);
  const windows = [[0, a.length, 0, b.codes.length]];
  let matches = 0;
  for (let window = windows.pop(); window; window = windows.pop()) {
    const [aFrom, aTo, bFrom, bTo] = window;
    const { i, j, size } = search(aFrom, aTo, bFrom, bTo);
    if (size === 0) continue;
    matches += size;
    if (aFrom < i && bFrom < j) windows.push([aFrom, i, bFrom, j]);
    if (i + size < aTo && j + size < bTo) windows.push([i + size, aTo, j + size, bTo]);
  }
  return matches;
}

/**
 * Finds the longest common block of a window; of several the one that starts first in a, then first in b.
 * It is sought through the index and then grown to both sides, popular characters included: so these match next to a
 * block, or where there is none, at the very start of the window.
 */
function blockSearch(a: Uint32Array, b: IndexedText) {
  const slots = Int32Array.from(a, (code) => b.slotOf.get(code) ?? -1);
  // runs[j + 1]: length of the common run that ends at j and the row's character; one row back, and this row.
  let previous = new Int32Array(b.codes.length + 1);
  let current = new Int32Array(b.codes.length + 1);

  return (aFrom: number, aTo: number, bFrom: number, bTo: number) => {
    const clear = (runs: Int32Array, slot: number) => {
      if (slot < 0) return;
      const end = b.offsets[slot + 1];
      for (let p = firstFrom(b, slot, bFrom); p < end && b.positions[p] < bTo; p++) runs[b.positions[p] + 1] = 0;
    };

    let best = { i: aFrom, j: bFrom, size: 0 };
    for (let i = aFrom; i < aTo; i++) {
      const slot = slots[i];
      const end = slot < 0 ? 0 : b.offsets[slot + 1];
      for (let p = slot < 0 ? 0 : firstFrom(b, slot, bFrom); p < end && b.positions[p] < bTo; p++) {
        const j = b.positions[p];
        const run = previous[j] + 1;
        current[j + 1] = run;
        if (run > best.size) best = { i: i - run + 1, j: j - run + 1, size: run };
      }
      if (i > aFrom) clear(previous, slots[i - 1]);
      [previous, current] = [current, previous];
    }
    if (aTo > aFrom) clear(previous, slots[aTo - 1]);

    let { i, j, size } = best;
    while (i > aFrom && j > bFrom && a[i - 1] === b.codes[j - 1]) {
      i--;
      j--;
      size++;
    }
    while (i + size < aTo && j + size < bTo && a[i + size] === b.codes[j + size]) size++;
    return { i, j, size };
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
