import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { joinSamples, sampleOf, sampleRateFor, thinned, type Sample } from './sample.js';

/** Trajectories of two turns in groups of four; the credit of a turn is its number. */
function sampled(run: string, count: number, rate: number, names: readonly string[] = ['x']): Sample {
  const trajectories = trajectoryBatch(
    Array.from({ length: count }, (_, i) => ({ id: `t${i}`, group: `g${i >> 2}`, trainingStep: 0, turns: [{}, {}] })),
  );
  const credit = Float64Array.from({ length: 2 * count }, (_, turn) => turn);
  return sampleOf(
    run,
    trajectories,
    names.map((name) => [name, credit] as const),
    [],
    rate,
  );
}

describe('sample', () => {
  it.each([
    [0, 1],
    [65_536, 1],
    [131_072, 0.5],
  ])('of %d turns is taken at rate %d', (turns, rate) => expect(sampleRateFor(turns)).toBe(rate));

  it('keeps everything at rate 1', () => {
    const whole = sampled('r', 10, 1);
    expect(whole.place).toHaveLength(10);
    expect(whole.groupCount).toBe(3);
    expect([...whole.turnOffsets].at(-1)).toBe(20);
    expect([...whole.credits[0][1]]).toEqual(Array.from({ length: 20 }, (_, turn) => turn));
  });

  it('keeps about its share of the trajectories, with all their turns', () => {
    const tenth = sampled('r', 20_000, 0.1);
    expect(tenth.place.length / 20_000).toBeCloseTo(0.1, 2);
    const credit = tenth.credits[0][1];
    for (let i = 0; i < tenth.place.length; i++) {
      const turn = tenth.turnOffsets[i];
      expect(credit[turn] % 2).toBe(0);
      expect(credit[turn + 1]).toBe(credit[turn] + 1);
    }
  });

  it('chooses other trajectories of the same name in another run', () => {
    expect(sampled('r', 100, 0.3).credits).not.toEqual(sampled('q', 100, 0.3).credits);
  });

  it('contains the sample of a lower rate', () => {
    expect(thinned(sampled('r', 500, 0.6), 0.2)).toEqual(sampled('r', 500, 0.2));
    expect(thinned(sampled('r', 500, 0.2), 0.6)).toEqual(sampled('r', 500, 0.2));
  });

  it('joins at the lower rate, with nothing said where a column is missing', () => {
    const joined = joinSamples([sampled('r', 100, 0.6, ['x', 'y']), sampled('q', 100, 0.3)]);
    const [left, right] = [sampled('r', 100, 0.3), sampled('q', 100, 0.3)];
    expect(joined.rate).toBe(0.3);
    expect(joined.groupCount).toBe(left.groupCount + right.groupCount);
    expect([...joined.place]).toEqual([...left.place, ...right.place]);
    expect(joined.credits.map(([name]) => name)).toEqual(['x', 'y']);
    const silence = new Array<number>(right.credits[0][1].length).fill(NaN);
    expect([...joined.credits[1][1]]).toEqual([...left.credits[0][1], ...silence]);
    expect(joined.groupOf[left.groupOf.length]).toBe(left.groupCount);
  });
});
