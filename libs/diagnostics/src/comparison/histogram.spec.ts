import { describe, expect, it } from 'vitest';
import { HISTOGRAM_BINS, histogramBin, histogramBins } from './histogram.js';

function binsOf(...credits: number[]) {
  const counts = new Float64Array(HISTOGRAM_BINS);
  for (const credit of credits) counts[histogramBin(credit)]++;
  return histogramBins(counts);
}

describe('histogram of credit', () => {
  it('mirrors the bins about zero', () => {
    for (const credit of [1e-7, 0.004, 1, 2.5, 999]) {
      const middle = histogramBin(0);
      expect(histogramBin(credit) - middle).toBe(middle - histogramBin(-credit));
    }
  });

  it.each([2e-8, 0.11, 1.7, 1.8, -33, 5e7])('counts %d between the edges of its bin', (credit) => {
    const [bin] = binsOf(credit);
    expect(credit).toBeGreaterThan(bin.low);
    expect(credit).toBeLessThan(bin.high);
    expect(bin.high / bin.low).toBeCloseTo(10 ** (credit > 0 ? 0.25 : -0.25), 9);
  });

  it('counts where the logarithm says, next to every edge too', () => {
    const step = (credit: number) => Math.floor(4 * (Math.log10(credit) + 8));
    for (let k = 1; k < 64; k++) {
      const edge = 10 ** (-8 + k / 4);
      for (let ulps = -50; ulps <= 50; ulps++) {
        const credit = edge * (1 + ulps * Number.EPSILON);
        expect(histogramBin(credit)).toBe(histogramBin(0) + 1 + step(credit));
      }
      const inside = edge * 1.3;
      expect(histogramBin(inside)).toBe(histogramBin(0) + 1 + step(inside));
    }
  });

  it('has one bin for everything that is no signal', () => {
    expect(binsOf(0, 1e-8, -1e-8, 3e-17)).toEqual([{ low: -1e-8, high: 1e-8, count: 4 }]);
  });

  it('shows the bins between the first and the last that hold something', () => {
    // four bins per decade: 1 lies in [1, 10^(1/4)), 10 four bins on
    expect(binsOf(1, 1.5, 10).map(({ count }) => count)).toEqual([2, 0, 0, 0, 1]);
    expect(binsOf(1)[0]).toEqual({ low: 1, high: 10 ** 0.25, count: 1 });
    expect(binsOf()).toEqual([]);
  });

  it('keeps what is off the scale in its last bins', () => {
    expect(histogramBin(1e300)).toBe(HISTOGRAM_BINS - 1);
    expect(histogramBin(-1e300)).toBe(0);
  });
});
