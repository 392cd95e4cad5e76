import { indexText, slotIn, type IndexedText } from './indexed-text.js';
import { matchingCharacters } from './matching-characters.js';

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
  const { characters, counts } = a.characters();
  const others = b.characters();
  let shared = 0;
  for (let slot = 0; slot < characters.length; slot++) {
    const other = slotIn(others, characters[slot]);
    if (other >= 0) shared += Math.min(counts[slot], others.counts[other]);
  }
  return shared;
}
