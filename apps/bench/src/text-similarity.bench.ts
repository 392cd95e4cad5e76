import { areSimilar, indexText, textSimilarity } from '#lib/numeric';
import { textKey } from '#lib/protocol';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords } from './made-records.js';
import { rate } from './rate.js';

/** difflib's ratio over pairs of observations of about 170 characters, as GiGPO's similarity grouping asks for it. */
export const textSimilarities: Benchmark = {
  name: 'text-similarity',
  async run() {
    const texts = madeRecords(40).flatMap(({ turns }) => turns.slice(0, 4).map(({ state }) => textKey(state ?? '')));
    const pairs = texts.slice(1).map((text, i) => [texts[i], text] as const);
    const indexed = new Map(texts.map((text) => [text, indexText(text)]));
    const similar = () => pairs.filter(([a, b]) => areSimilar(indexed.get(a)!, indexed.get(b)!, 0.9)).length;
    return rowsAgainst(
      'pairs/s',
      ['comparing the same texts place by place', await rate(pairs.length, () => pairs.map(equalPlaces))],
      [
        ['similarity of two texts', await rate(pairs.length, () => pairs.map(([a, b]) => textSimilarity(a, b)))],
        ['whether they are similar by 0.9, once indexed', await rate(pairs.length, similar)],
      ],
    );
  },
};

function equalPlaces([a, b]: readonly [string, string]): number {
  let equal = 0;
  for (let i = 0; i < a.length; i++) if (a.charCodeAt(i) === b.charCodeAt(i)) equal++;
  return equal;
}
