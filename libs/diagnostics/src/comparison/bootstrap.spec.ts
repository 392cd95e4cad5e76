import { pearson, quantiles, seededRandom, spearman } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { affordableResamples, bootstrap } from './bootstrap.js';
import type { Sample } from './sample.js';
import { pairName } from './sums.js';

/** Trajectories of three turns, two per group; the credit is the truth and as much noise. */
function noisySample(groupCount: number, seed: string): Sample {
  const random = seededRandom(seed);
  const turns = groupCount * 6;
  const truth = Float64Array.from({ length: turns }, () => random.normal());
  return {
    rate: 1,
    groupCount,
    place: new Float64Array(groupCount * 2),
    groupOf: Int32Array.from({ length: groupCount * 2 }, (_, i) => i >> 1),
    mixed: new Int32Array(groupCount * 2).fill(1),
    turnOffsets: Int32Array.from({ length: groupCount * 2 + 1 }, (_, i) => 3 * i),
    credits: [['x', truth.map((value) => Math.round(4 * (value + random.normal())))]],
    truths: [['truth', truth]],
    labels: [],
    gradients: [],
    tags: [],
  };
}

const cell = (sample: Sample, options?: Parameters<typeof bootstrap>[1]) =>
  bootstrap(sample, options).cells.get(pairName('truth', 'x'))!;

describe('bootstrap over groups', () => {
  it('is what writing the drawn groups out and ranking them anew gives', () => {
    const sample = noisySample(9, 'a');
    const [x, y] = [sample.credits[0][1], sample.truths[0][1]];
    const random = seededRandom('s');
    const resamples = Array.from({ length: 200 }, () =>
      Array.from({ length: 9 }, () => random.integer(9)).flatMap((g) => [0, 1, 2, 3, 4, 5].map((turn) => 6 * g + turn)),
    );
    const drawn = (column: Float64Array, rows: readonly number[]) => Float64Array.from(rows, (row) => column[row]);
    const limits = (statistic: typeof spearman) =>
      quantiles(
        Float64Array.from(resamples, (rows) => statistic(drawn(x, rows), drawn(y, rows))),
        [0.05, 0.95],
      );

    const { intervals } = cell(sample, { resamples: 200, seed: 's' });
    intervals.spearman.forEach((limit, i) => expect(limit).toBeCloseTo(limits(spearman)[i], 12));
    intervals.pearson.forEach((limit, i) => expect(limit).toBeCloseTo(limits(pearson)[i], 12));
  });

  it('gives the same bits twice, and other ones with another seed', () => {
    const sample = noisySample(20, 'b');
    expect(cell(sample)).toEqual(cell(sample));
    expect(cell(sample)).not.toEqual(cell(sample, { resamples: 1000, seed: 'other' }));
  });

  it('covers the true correlation about nine times in ten', () => {
    // truth and noise of equal variance: Pearson 1 / √2 (rounding to quarters moves it by less than 0.001)
    const covered = Array.from({ length: 100 }, (_, i) => cell(noisySample(40, `c${i}`), { resamples: 200, seed: 's' }))
      .map(
        ({
          intervals: {
            pearson: [low, high],
          },
        }) => low <= Math.SQRT1_2 && Math.SQRT1_2 <= high,
      )
      .filter(Boolean).length;
    expect(covered / 100).toBeGreaterThan(0.8);
    expect(covered / 100).toBeLessThan(0.97);
  });

  it.each([
    [1000, 0, 1000],
    [1000, 150_000, 1000],
    [1000, 300_000, 500],
    [1000, 65_536 * 18, 200],
    [20, 65_536 * 18, 20],
  ])('makes of %d resamples over %d rows each %d', (wanted, visits, made) => {
    expect(affordableResamples(wanted, visits)).toBe(made);
  });

  it('has no interval from one group', () => {
    const { intervals } = cell(noisySample(1, 'f'));
    expect(intervals.spearman).toEqual([NaN, NaN]);
  });
});
