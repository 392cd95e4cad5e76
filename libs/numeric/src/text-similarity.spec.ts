import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { areSimilar, indexText, textSimilarity } from './text-similarity.js';

interface Pair {
  a: string;
  b: string;
  ratio: number;
  similarAt095: boolean;
}

const { cases } = JSON.parse(readFileSync('test/golden/difflib-ratio.json', 'utf8')) as { cases: { pairs: Pair[] }[] };

describe("CPython's difflib", () => {
  it.each(cases[0].pairs.map((pair, i) => [i, pair] as const))('gives the same for pair %i', (_, pair) => {
    expect(textSimilarity(pair.a, pair.b)).toBeCloseTo(pair.ratio, 12);
    expect(areSimilar(indexText(pair.a), indexText(pair.b), 0.95)).toBe(pair.similarAt095);
  });

  it('matches popular characters only next to a block or at the start of a window', () => {
    expect(textSimilarity(`zz${'ab'.repeat(99)}`, 'ab'.repeat(100))).toBe(0);
    expect(textSimilarity(`zz${'ab'.repeat(98)}`, 'ab'.repeat(99))).toBeCloseTo(0.9899, 5);
  });

  it('counts code points, not UTF-16 units', () => {
    expect(textSimilarity('😀b', '😀c')).toBe(0.5);
  });
});

describe('textSimilarity', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 260 });

  it('is 1 for equal texts, popular characters or not', () => {
    fc.assert(fc.property(text, (a) => textSimilarity(a, a) === 1));
  });

  it('is answered alike by the short cuts', () => {
    fc.assert(
      fc.property(text, text, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (a, b, threshold) => {
        expect(areSimilar(indexText(a), indexText(b), threshold)).toBe(textSimilarity(a, b) >= threshold);
      }),
    );
  });
});
