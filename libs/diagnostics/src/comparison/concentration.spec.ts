import { describe, expect, it } from 'vitest';
import { concentration } from './concentration.js';

const of = (...magnitudes: number[]) => concentration(Float64Array.from(magnitudes));

describe('concentration', () => {
  it('of equal credit is exactly none, whatever it is', () => {
    for (let turns = 1; turns <= 40; turns++) {
      for (const credit of [0.1, 0.3, 1 / 3, 0.7])
        expect(of(...Array.from({ length: turns }, () => credit))!.gini).toBe(0);
    }
  });

  it('is worked by hand', () => {
    // pairs |1−3| + |1−2| + |3−2| = 4, both ways 8, over 2 · 3 · 6; effective 36 / 14
    const found = of(1, 3, 2)!;
    expect(found.gini).toBeCloseTo(8 / 36, 12);
    expect(found.effectiveTurns).toBeCloseTo(36 / 14, 12);
    expect(found).toMatchObject({ topTurn: 1, topShare: 0.5 });
    expect(found.lastShare).toBeCloseTo(1 / 3, 12);
  });

  it('is even where all turns are alike, and takes the first of equals', () => {
    expect(of(2, 2, 2, 2)).toEqual({ gini: 0, effectiveTurns: 4, topTurn: 0, topShare: 0.25, lastShare: 0.25 });
  });

  it('sorts many turns as it sorts few', () => {
    // the same turns three times over: shares stay, and so does the Gini index
    const few = Array.from({ length: 40 }, (_, t) => (t * 17) % 41);
    const [short, long] = [of(...few)!, of(...few, ...few, ...few)!];
    expect(long.gini).toBeCloseTo(short.gini, 12);
    expect(long.effectiveTurns).toBeCloseTo(3 * short.effectiveTurns, 9);
  });

  it('looks at so many turns as it is told', () => {
    expect(concentration(Float64Array.of(1, 3, 2, 9, 9), 3)).toEqual(of(1, 3, 2));
  });

  it('says nothing where nothing was given', () => {
    expect(of(0, 0)).toBeNull();
    expect(of()).toBeNull();
  });
});
