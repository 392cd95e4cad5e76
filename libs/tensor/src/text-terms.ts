import { hash32 } from '#lib/numeric';

/** Buckets that words and pairs of words are hashed into. */
export const TERM_BUCKETS = 2 ** 14;

/** The terms of texts, TF-IDF weighted, each text's weights of unit length. */
export interface TermWeights {
  /** [texts + 1] into buckets and weights */
  readonly offsets: Int32Array;
  /** [terms] ascending in a text */
  readonly buckets: Int32Array;
  /** [terms] */
  readonly weights: Float32Array;
}

/** In how many of some texts each bucket has a word: how much words tell texts apart. */
export interface DocumentFrequencies {
  /** [buckets] */
  readonly documents: Int32Array;
  /** texts that were counted */
  readonly count: number;
}

const WORD = /[\p{L}\p{N}_]+/gu;

/**
 * Hashed word n-grams (words and pairs of neighbours, lower case), weighted by how much they tell texts apart.
 *
 *     weight = (1 + ln tf) · (ln((1 + n) / (1 + df)) + 1), then each text to unit length      n: number of texts
 *
 * Two n-grams of one bucket count as one term. A text without a word has no term.
 *
 * @param among the texts that df and n are of; these texts, if not said
 */
export function termWeights(texts: readonly string[], among?: DocumentFrequencies): TermWeights {
  const counted = texts.map(countTerms);
  const { documents, count: n } = among ?? frequenciesOf(counted);
  const offsets = new Int32Array(texts.length + 1);
  counted.forEach((terms, i) => (offsets[i + 1] = offsets[i] + terms.size));
  const buckets = new Int32Array(offsets[texts.length]);
  const weights = new Float32Array(offsets[texts.length]);
  counted.forEach((terms, i) => {
    const sorted = [...terms].sort(([a], [b]) => a - b);
    const raw = sorted.map(([bucket, tf]) => (1 + Math.log(tf)) * (Math.log((1 + n) / (1 + documents[bucket])) + 1));
    const length = Math.sqrt(raw.reduce((sum, weight) => sum + weight * weight, 0));
    sorted.forEach(([bucket], k) => {
      buckets[offsets[i] + k] = bucket;
      weights[offsets[i] + k] = raw[k] / length;
    });
  });
  return { offsets, buckets, weights };
}

/** How often the terms of texts are in them, for texts that are compared with others than these. */
export const documentFrequencies = (texts: readonly string[]) => frequenciesOf(texts.map(countTerms));

function frequenciesOf(counted: readonly ReadonlyMap<number, number>[]): DocumentFrequencies {
  const documents = new Int32Array(TERM_BUCKETS);
  for (const terms of counted) for (const bucket of terms.keys()) documents[bucket]++;
  return { documents, count: counted.length };
}

function countTerms(text: string): Map<number, number> {
  const counts = new Map<number, number>();
  const count = (term: string) => {
    const bucket = hash32(term) % TERM_BUCKETS;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  };
  let previous: string | null = null;
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    count(word);
    if (previous !== null) count(`${previous} ${word}`);
    previous = word;
  }
  return counts;
}
