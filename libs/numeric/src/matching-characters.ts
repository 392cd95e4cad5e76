import { pairHash, slotIn, type CharacterIndex, type IndexedText, type PairIndex } from './indexed-text.js';

/** Pairs of places where the same two characters begin, of which the runs are kept; with more, blocks are sought row by row. */
const KEPT_PAIRS = 2 ** 18;

/**
 * M of difflib's ratio: the characters in the longest common block of two texts, then in those of the windows before and
 * after it, and so on. Of several longest blocks the one is taken that starts first in a, then first in b.
 */
export function matchingCharacters(a: IndexedText, b: IndexedText): number {
  const end = commonRuns(a, b);
  return end < 0 ? matchesByRow(a, b) : matchesOfRuns(a, b, end);
}

/** A block of characters that both texts have in common, or an empty one. */
interface Block {
  i: number;
  j: number;
  size: number;
}

/** Of each run where it starts in a, where in b, and how long it is. One comparison is over before the next begins. */
let runs = new Int32Array(2 ** 12);

/**
 * Puts the common runs of two or more indexed characters, as long as they go, into `runs`.
 *
 * @returns the end of the last one; -1: there are too many to keep
 */
function commonRuns(a: IndexedText, b: IndexedText): number {
  // often one text is compared with many: the index of a serves all of them
  return a.isWhole ? runsThrough(a.pairs(), b.indexed(), 1) : runsThrough(b.pairs(), a.codes, 0);
}

/** @param from 0: `codes` are those of a; 1: of b */
function runsThrough({ indexed, starts, places, shift }: PairIndex, codes: Int32Array, from: 0 | 1): number {
  let kept = runs;
  let end = 0;
  let visited = 0;
  for (let i = 0; i + 1 < codes.length; i++) {
    const code = codes[i];
    const after = codes[i + 1];
    if (code < 0 || after < 0) continue;
    const before = i > 0 ? codes[i - 1] : -2;
    for (let j = starts[pairHash(code, after) >>> shift] - 1; j >= 0; j = starts[places + j] - 1) {
      if (++visited > KEPT_PAIRS) return -1;
      if (indexed[j] !== code || indexed[j + 1] !== after) continue;
      if (j > 0 && indexed[j - 1] === before) continue;
      let size = 2;
      const most = Math.min(codes.length - i, indexed.length - j);
      while (size < most && indexed[j + size] === codes[i + size]) size++;
      if (end + 3 > kept.length) kept = runs = grown(runs);
      kept[end + from] = i;
      kept[end + 1 - from] = j;
      kept[end + 2] = size;
      end += 3;
    }
  }
  return end;
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}

/** M from the runs in `runs`, each window with those that lie in it. */
function matchesOfRuns(a: IndexedText, b: IndexedText, end: number): number {
  const windows = [0, a.codes.length, 0, b.codes.length, 0, end];
  const block = { i: 0, j: 0, size: 0 };
  let matches = 0;
  while (windows.length > 0) {
    const to = windows.pop()!;
    const from = windows.pop()!;
    const bTo = windows.pop()!;
    const bFrom = windows.pop()!;
    const aTo = windows.pop()!;
    const aFrom = windows.pop()!;
    if (from === to) {
      matches += matchesOfSingles(a, b, aFrom, aTo, bFrom, bTo);
      continue;
    }
    longestRun(block, from, to);
    grow(block, a.codes, b.codes, aFrom, aTo, bFrom, bTo);
    const { i, j, size } = block;
    matches += size;
    // as long as the block at most, no run reaches out on both sides of it
    const middle = keepBefore(from, to, i, j);
    const kept = keepAfter(middle, to, i + size, j + size);
    if (aFrom < i && bFrom < j) windows.push(aFrom, i, bFrom, j, from, middle);
    if (i + size < aTo && j + size < bTo) windows.push(i + size, aTo, j + size, bTo, middle, kept);
  }
  return matches;
}

function longestRun(best: Block, from: number, to: number): void {
  const kept = runs;
  let [i, j, size] = [0, 0, 0];
  for (let r = from; r < to; r += 3) {
    if (kept[r + 2] < size) continue;
    if (kept[r + 2] === size && (kept[r] > i || (kept[r] === i && kept[r + 1] > j))) continue;
    i = kept[r];
    j = kept[r + 1];
    size = kept[r + 2];
  }
  best.i = i;
  best.j = j;
  best.size = size;
}

/** Moves the runs of which two characters lie before a place to the front, cut off there. Returns their end. */
function keepBefore(from: number, to: number, i: number, j: number): number {
  const kept = runs;
  let end = from;
  for (let r = from; r < to; r += 3) {
    const runI = kept[r];
    const runJ = kept[r + 1];
    const size = Math.min(kept[r + 2], i - runI, j - runJ);
    if (size < 2) continue;
    kept[r] = kept[end];
    kept[r + 1] = kept[end + 1];
    kept[r + 2] = kept[end + 2];
    kept[end] = runI;
    kept[end + 1] = runJ;
    kept[end + 2] = size;
    end += 3;
  }
  return end;
}

/** Keeps the runs of which two characters lie from a place on, without what lies before it. Returns their end. */
function keepAfter(from: number, to: number, i: number, j: number): number {
  const kept = runs;
  let end = from;
  for (let r = from; r < to; r += 3) {
    const before = Math.max(0, i - kept[r], j - kept[r + 1]);
    const size = kept[r + 2] - before;
    if (size < 2) continue;
    kept[end] = kept[r] + before;
    kept[end + 1] = kept[r + 1] + before;
    kept[end + 2] = size;
    end += 3;
  }
  return end;
}

/** [code points] 1 + where a window of b has each; 0: nowhere, and between two windows all are */
const placeOf = new Int32Array(0x110000);
/** [places] 1 + where the window has the same character again; 0: nowhere */
let again = new Int32Array(2 ** 12);

/**
 * M of a window without a common run of two indexed characters. Blocks begin with a single one then: the first of a that
 * b has too. Before it the two have no indexed character in common, after it no run either.
 */
function matchesOfSingles(
  a: IndexedText,
  b: IndexedText,
  aFrom: number,
  aTo: number,
  bFrom: number,
  bTo: number,
): number {
  const indexed = b.indexed();
  const [from, end] = [bFrom, bTo];
  if (again.length < end) again = new Int32Array(2 * end);
  // from the back, so that each character is found where it comes first
  for (let j = end - 1; j >= from; j--) {
    if (indexed[j] < 0) continue;
    again[j] = placeOf[indexed[j]];
    placeOf[indexed[j]] = j + 1;
  }
  const block = { i: 0, j: 0, size: 0 };
  let matches = 0;
  for (let i = aFrom; i < aTo && bFrom < bTo; i++) {
    const code = a.codes[i];
    let place = placeOf[code];
    while (place > 0 && place <= bFrom) place = again[place - 1];
    placeOf[code] = place;
    if (place === 0) continue;
    block.i = i;
    block.j = place - 1;
    block.size = 1;
    grow(block, a.codes, b.codes, aFrom, aTo, bFrom, bTo);
    matches += block.size + equalStart(a, b, aFrom, block.i, bFrom, block.j);
    aFrom = block.i + block.size;
    bFrom = block.j + block.size;
    i = aFrom - 1;
  }
  for (let j = from; j < end; j++) if (indexed[j] >= 0) placeOf[indexed[j]] = 0;
  return matches + equalStart(a, b, aFrom, aTo, bFrom, bTo);
}

/** M of a window without a common indexed character: popular ones match at its start. */
function equalStart(a: IndexedText, b: IndexedText, aFrom: number, aTo: number, bFrom: number, bTo: number): number {
  let size = 0;
  while (aFrom + size < aTo && bFrom + size < bTo && a.codes[aFrom + size] === b.codes[bFrom + size]) size++;
  return size;
}

/** To both sides, popular characters included: so these match next to a block, or where there is none, at the window's start. */
function grow(
  block: Block,
  a: Int32Array,
  b: Int32Array,
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
  block.i = i;
  block.j = j;
  block.size = size;
}

/** M where there are too many runs to keep: each window is searched through the index of b. */
function matchesByRow(a: IndexedText, b: IndexedText): number {
  const search = rowSearch(a, b);
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

/** Finds the longest common block of a window through the index. */
function rowSearch(a: IndexedText, b: IndexedText) {
  const index = b.characters();
  const { offsets, positions } = index;
  const slots = a.codes.map((code) => slotIn(index, code));
  // [j + 1] length of the common run that ends at j and the row's character; one row back, and this row.
  let previous = new Int32Array(b.codes.length + 1);
  let current = new Int32Array(b.codes.length + 1);

  return (best: Block, aFrom: number, aTo: number, bFrom: number, bTo: number): void => {
    const clear = (lengths: Int32Array, slot: number) => {
      if (slot < 0) return;
      const end = offsets[slot + 1];
      for (let p = firstFrom(index, slot, bFrom); p < end && positions[p] < bTo; p++) lengths[positions[p] + 1] = 0;
    };

    [best.i, best.j, best.size] = [aFrom, bFrom, 0];
    for (let i = aFrom; i < aTo; i++) {
      const slot = slots[i];
      const end = slot < 0 ? 0 : offsets[slot + 1];
      for (let p = slot < 0 ? 0 : firstFrom(index, slot, bFrom); p < end && positions[p] < bTo; p++) {
        const j = positions[p];
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
function firstFrom({ offsets, positions }: CharacterIndex, slot: number, from: number): number {
  let low = offsets[slot];
  let high = offsets[slot + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
