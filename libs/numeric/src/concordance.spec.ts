import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concordance } from './concordance.js';
import { seededRandom } from './random.js';

const column = (...values: number[]) => Float64Array.from(values);

describe('concordance', () => {
  it('is worked by hand', () => {
    // truths 1, 0, -1 make three pairs; the score has one right (3 over 1), one tied, one wrong (1 under 3)
    expect(concordance(column(3, 1, 3), column(1, 0, -1), 0, 3)).toEqual({ pairs: 3, right: 1.5 });
  });

  it('does not compare equal truths, nor rows that say nothing, nor rows outside', () => {
    expect(concordance(column(1, 2), column(1, 1), 0, 2)).toEqual({ pairs: 0, right: 0 });
    expect(concordance(column(1, NaN, 3), column(-1, 0, NaN), 0, 3)).toEqual({ pairs: 0, right: 0 });
    expect(concordance(column(9, 1, 2, 9), column(5, -1, 1, 5), 1, 3)).toEqual({ pairs: 1, right: 1 });
    expect(concordance(column(), column(), 0, 0)).toEqual({ pairs: 0, right: 0 });
  });

  it('says what comparing each pair says, also of ties apart and of differences whose product underflows', () => {
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    const value = fc.oneof(any, fc.constantFrom(0, 1, -1, 1e-200, 3e-200, -1e308, 1e308, NaN, Infinity));
    const eachPair = (x: Float64Array, y: Float64Array) => {
      const rows = [...x.keys()].filter((i) => Number.isFinite(x[i]) && Number.isFinite(y[i]));
      const found = { pairs: 0, right: 0 };
      for (const a of rows) {
        for (const b of rows.filter((row) => y[row] < y[a])) {
          found.pairs++;
          found.right += x[b] === x[a] ? 0.5 : Number(x[b] < x[a]);
        }
      }
      return found;
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 40 }), (list) => {
        const [x, y] = [column(...list.map(([x]) => x)), column(...list.map(([, y]) => y))];
        expect(concordance(x, y, 0, list.length)).toEqual(eachPair(x, y));
      }),
    );
    const [x, y] = [column(1e-200, 5, 3e-200, 7), column(2e-200, 9, 1e-200, 8)];
    expect(concordance(x, y, 0, 4)).toEqual(eachPair(x, y));
  });

  it('counts a long trajectory as it counts a short one', () => {
    const score = fc.constantFrom(NaN, -2, -0.5, 0, 0.5, 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 1, maxLength: 20 }), (list) => {
        const rows = list.length;
        const short = concordance(column(...list.map(([x]) => x)), column(...list.map(([, y]) => y)), 0, rows);
        // 300 more rows that say nothing send the same pairs through the tree.
        const silence = new Array<number>(300).fill(NaN);
        const x = column(...list.map(([x]) => x), ...silence);
        const y = column(...list.map(([, y]) => y), ...silence);
        expect(concordance(x, y, 0, rows + 300)).toEqual(short);
      }),
    );
  });

  it('takes a trajectory of 100,000 turns', () => {
    const random = seededRandom(1);
    const x = new Float64Array(100_000).map(() => random.next());
    const { pairs, right } = concordance(x, x, 0, x.length);
    expect(right).toBe(pairs);
  });
});
