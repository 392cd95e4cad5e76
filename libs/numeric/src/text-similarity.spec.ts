import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { indexText } from './indexed-text.js';
import { areSimilar, textSimilarity } from './text-similarity.js';

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

  it('counts half a character as one of its own, where a text was cut in the middle of it', () => {
    const cut = 'some twenty characters and half a one 😀'.slice(0, -1);
    expect([...indexText(`${cut}b😀`).codes.subarray(-3)]).toEqual([0xd83d, 0x62, 0x1f600]);
    expect(indexText(cut).codes.at(-1)).toBe(0xd83d);
    expect(textSimilarity(`${cut}b`, `${cut}c`)).toBe(39 / 40);
  });
});

/** The ratio as difflib finds it, by looking at every pair of characters of every window. */
function plainRatio(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  const isPopular = (char: string) => b.length >= 200 && b.filter((other) => other === char).length > Math.floor(b.length / 100) + 1; // prettier-ignore
  const popular = new Set([...new Set(b)].filter(isPopular));
  const matches = (aFrom: number, aTo: number, bFrom: number, bTo: number): number => {
    let [i, j, size] = [aFrom, bFrom, 0];
    let before = new Int32Array(b.length + 1);
    for (let k = aFrom; k < aTo; k++) {
      const now = new Int32Array(b.length + 1);
      for (let l = bFrom; l < bTo; l++) {
        if (a[k] !== b[l] || popular.has(b[l])) continue;
        now[l + 1] = before[l] + 1;
        if (now[l + 1] > size) [i, j, size] = [k - now[l + 1] + 1, l - now[l + 1] + 1, now[l + 1]];
      }
      before = now;
    }
    while (i > aFrom && j > bFrom && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
    while (i + size < aTo && j + size < bTo && a[i + size] === b[j + size]) size++;
    return size === 0 ? 0 : size + matches(aFrom, i, bFrom, j) + matches(i + size, aTo, j + size, bTo);
  };
  return a.length + b.length === 0 ? 1 : (2 * matches(0, a.length, 0, b.length)) / (a.length + b.length);
}

describe('textSimilarity', () => {
  it('is what looking at every pair of characters gives, popular or not, of one unit or two', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '😀'), maxLength: 60 });
    const rare = 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöü';
    const many = fc.string({ unit: fc.constantFrom(...rare), minLength: 150, maxLength: 400 });
    const any = fc.oneof(few, many);
    const joined = fc.tuple(any, any, any).map(([a, b, c]) => [a + b, a.slice(3) + c + b.slice(0, 90)] as const);
    fc.assert(
      fc.property(fc.oneof(joined, fc.tuple(any, any)), ([a, b]) => {
        expect(textSimilarity(a, b)).toBe(plainRatio(a, b));
      }),
      { numRuns: 50 },
    );
  });

  it('finds blocks of one and two characters in the right order between long ones and where there is none', () => {
    const unit = fc.constantFrom(...'abcdefghij');
    const scrap = fc.string({ unit, maxLength: 25 });
    const shared = fc.array(fc.constantFrom('KLMN', 'OPQ', 'RS', 'T'), { maxLength: 3 });
    const scraps = fc.tuple(scrap, scrap, scrap, scrap);
    const around = ([first, ...others]: readonly string[], blocks: readonly string[]) =>
      first + others.map((other, i) => (blocks[i] ?? '') + other).join('');
    fc.assert(
      fc.property(scraps, scraps, shared, (ofA, ofB, blocks) => {
        const [a, b] = [around(ofA, blocks), around(ofB, blocks)];
        expect(textSimilarity(a, b)).toBe(plainRatio(a, b));
      }),
      { numRuns: 300 },
    );
  });

  it('is the same where the texts have more in common than is kept', () => {
    const cycle = String.fromCodePoint(...Array.from({ length: 100 }, (_, i) => 200 + i)).repeat(54);
    const other = `${cycle.slice(7, 2000)}#${cycle.slice(1990, 3555)}#${cycle.slice(3500)}`;
    expect(textSimilarity(cycle, cycle)).toBe(1);
    expect(textSimilarity(cycle, other)).toBe(plainRatio(cycle, other));
  });

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
