import { laterColumn, trajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { gradientCosine, gradientPush, gradientWeights } from './gradient.js';

const batch = (...turns: readonly (readonly Record<string, number[]>[])[]) =>
  trajectoryBatch(
    turns.map((of, i) => ({ id: `t${i}`, group: 'g', trainingStep: 0, turns: of.map((tokens) => ({ tokens })) })),
  );
const f64 = (...values: number[]) => Float64Array.from(values);

describe('the squared length of the gradient of a turn', () => {
  it('is that of its tokens by their logits, 1 − 2π + Σπ²', () => {
    // the gradient of ln π_k by the logits is e_k − π
    const squared = (chosen: number, probabilities: readonly number[]) =>
      probabilities.reduce((sum, p, v) => sum + (Number(v === chosen) - p) ** 2, 0);
    const [first, second] = [[0.5, 0.25, 0.25], [0.1, 0.9]]; // prettier-ignore
    const sumProbSquared = [first, second].map((all) => all.reduce((sum, p) => sum + p * p, 0));
    const tokens = { logprob: [Math.log(0.25), Math.log(0.9)], sumProbSquared };
    const [[source, weight]] = gradientWeights(batch([tokens]), [1]);
    expect(source).toBe('sumProbSquared');
    expect(weight[0]).toBeCloseTo(squared(1, first) + squared(1, second), 6);
  });

  it('is at least (1 − π)² where the log-probability alone is known, and at most twice that', () => {
    const random = seededRandom('gradient');
    for (let trial = 0; trial < 50; trial++) {
      const raw = Array.from({ length: 2 + random.integer(6) }, () => random.next());
      const total = raw.reduce((sum, p) => sum + p, 0);
      const probabilities = raw.map((p) => p / total);
      const logprob = [Math.log(probabilities[0])];
      const sumProbSquared = [probabilities.reduce((sum, p) => sum + p * p, 0)];
      const [[source, least]] = gradientWeights(batch([{ logprob }]), [1]);
      const [[, exact]] = gradientWeights(batch([{ logprob, sumProbSquared }]), [1]);
      expect(source).toBe('logprob');
      expect(exact[0]).toBeGreaterThanOrEqual(least[0] - 1e-6);
      expect(exact[0]).toBeLessThanOrEqual(2 * least[0] + 1e-6);
    }
  });

  it('takes no token outside the mask, no turn without one, no trajectory that is not wanted', () => {
    const half = Math.log(0.5);
    const said = batch([{ logprob: [half, half], mask: [1, 0] }, { logprob: [half], mask: [0] }], [{ logprob: [half], mask: [1] }]); // prettier-ignore
    const [[, weight]] = gradientWeights(said, [1, 0]);
    expect([...weight]).toEqual([expect.closeTo(0.25, 6), NaN, NaN]);
    expect(gradientWeights(batch([{ entropy: [1] }]), [1])).toEqual([]);
  });

  it('asks for no value of a token where no trajectory is wanted', () => {
    const left = batch([{ logprob: [-1] }]);
    const unread = laterColumn('number', () => expect.unreachable());
    const columns = new Map([...left.columns].map(([path]) => [path, unread]));
    expect(gradientWeights({ ...left, columns }, [0])).toEqual([['logprob', f64(NaN)]]);
    expect(() => gradientWeights({ ...left, columns }, [1])).toThrow();
  });
});

describe('the direction of the policy gradient', () => {
  it('is pushed up, down or both ways', () => {
    expect(gradientPush(f64(1, 2, NaN), f64(4, 1, 1))).toEqual({ turns: 2, push: 1, length: Math.sqrt(8) });
    expect(gradientPush(f64(1, -2), f64(4, 1)).push).toBe(0);
    expect(gradientPush(f64(-1, -3), f64(1, NaN))).toEqual({ turns: 1, push: -1, length: 1 });
    expect(gradientPush(f64(0), f64(1)).push).toBeNaN();
  });

  it('is the same for a multiple, opposite for the negative, and square to what speaks of other turns', () => {
    const [credit, weight] = [f64(1, -2, 0.5), f64(1, 0.5, 2)];
    expect(gradientCosine(credit, credit.map((value) => 3 * value), weight)).toBeCloseTo(1, 12); // prettier-ignore
    expect(gradientCosine(credit, credit.map((value) => -value), weight)).toBeCloseTo(-1, 12); // prettier-ignore
    expect(gradientCosine(f64(1, 0), f64(0, 1), f64(1, 1))).toBe(0);
    // (1·1·1 + 1·(−1)·3) / √(4 · 4)
    expect(gradientCosine(f64(1, 1, NaN), f64(1, -1, 9), f64(1, 3, 1))).toBeCloseTo(-0.5, 12);
    expect(gradientCosine(f64(0, 0), f64(1, 1), f64(1, 1))).toBeNaN();
  });

  it('is that of the gradient by all logits, written out', () => {
    const random = seededRandom('written out');
    const turns = Array.from({ length: 20 }, () => {
      const raw = Array.from({ length: 4 }, () => random.next());
      const total = raw.reduce((sum, p) => sum + p, 0);
      return raw.map((p) => p / total);
    });
    const [left, right] = [1, 2].map(() => Float64Array.from(turns, () => random.normal()));
    const gradient = (credit: Float64Array) =>
      turns.flatMap((probabilities, t) => probabilities.map((p, v) => credit[t] * (Number(v === 0) - p)));
    const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i], 0);
    const [x, y] = [gradient(left), gradient(right)];
    const tokens = turns.map((probabilities) => ({
      logprob: [Math.log(probabilities[0])],
      sumProbSquared: [probabilities.reduce((sum, p) => sum + p * p, 0)],
    }));
    const [[, weight]] = gradientWeights(batch(tokens), [1]);
    expect(gradientCosine(left, right, weight)).toBeCloseTo(dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y)), 6);
    expect(gradientPush(left, weight).length).toBeCloseTo(Math.sqrt(dot(x, x)), 6);
  });
});
