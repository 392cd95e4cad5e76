import { describe, expect, it } from 'vitest';
import { concentration } from './concentration.js';

const of = (...magnitudes: number[]) => concentration(Float64Array.from(magnitudes));

describe('concentration', () => {
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

  it('says nothing where nothing was given', () => {
    expect(of(0, 0)).toBeNull();
    expect(of()).toBeNull();
  });
});
