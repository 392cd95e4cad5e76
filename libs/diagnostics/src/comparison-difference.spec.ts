import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { comparisonDifference, type ComparedAnalysis } from './comparison-difference.js';
import { comparisonOf } from './comparison/comparison.js';
import { summarizeShard } from './comparison/summarize-shard.js';

/** Forty groups of two one-turn trajectories; in every `wrong`th group the credit points the wrong way. */
function analysisOf(
  run: string,
  wrong: number,
  { label = 'grpo', params = {} }: { label?: string; params?: object } = {},
): ComparedAnalysis {
  const groups = Array.from({ length: 40 }, (_, g) => g);
  const trajectories = trajectoryBatch(
    groups.flatMap((g) =>
      [0, 1].map((outcomeReward) => ({
        id: `${g}-${outcomeReward}`,
        group: `g${g}`,
        trainingStep: 0,
        outcomeReward,
        turns: [{}],
      })),
    ),
  );
  const labels = Float64Array.from(groups.flatMap(() => [-1, 1]));
  const credit = Float64Array.from(groups.flatMap((g) => (g % wrong === 0 ? [1, -1] : [-1, 1])));
  const truths = new Map([['humanLabel', labels]]);
  const shard = { run, trajectories, credits: new Map([[label, credit]]), truths, sampleRate: 1, topK: 5 };
  return {
    comparison: comparisonOf(summarizeShard(shard), { resamples: 400 }),
    runs: [run],
    estimators: [{ label, id: 'grpo', version: 1, params }],
  };
}

it('subtracts each number of the first from that of the second, and says how sure a difference is', () => {
  const found = comparisonDifference(analysisOf('a', 4), analysisOf('b', 2));
  expect(found.estimators).toMatchObject([{ estimator: 'grpo', differsIn: [] }]);
  expect(found.estimators[0].numbers.find(({ number }) => number === 'mean')).toMatchObject({ first: 0, second: 0, difference: 0, low: null }); // prettier-ignore
  expect(found.outcomes.find(({ number }) => number === 'meanOutcome')).toMatchObject({ first: 0.5, second: 0.5 });
  const auc = found.truths[0].numbers.find(({ number }) => number === 'auc')!;
  // of +1 and -1 a quarter is wrong: 3/4 · 3/4 + 2 · (3/4 · 1/4) / 2; then a half
  expect(auc).toMatchObject({ first: 0.75, second: 0.5, difference: -0.25 });
  expect(auc.low!).toBeLessThan(-0.25);
  expect(auc.high!).toBeGreaterThan(-0.25);
  expect(auc.high!).toBeLessThan(0);
  const [one, other] = [analysisOf('a', 4), analysisOf('b', 2)].map(({ comparison }) => comparison.truths[0].intervals.auc); // prettier-ignore
  const half = Math.sqrt(((one.high! - one.low!) / 2) ** 2 + ((other.high! - other.low!) / 2) ** 2);
  expect(auc.high! - auc.low!).toBeCloseTo(2 * half, 12);
});

it('gives no interval where the two share a run', () => {
  const found = comparisonDifference(analysisOf('a', 4), analysisOf('a', 2));
  expect(found.shareRuns).toBe(true);
  expect(found.truths[0].numbers[0]).toMatchObject({ low: null, high: null });
});

it('says what else differs, and what only one of them has', () => {
  const same = comparisonDifference(
    analysisOf('a', 4, { params: { x: 1, y: { a: 1, b: 2 } } }),
    analysisOf('b', 4, { params: { y: { b: 2, a: 1 }, x: 1 } }),
  );
  expect(same.estimators[0].differsIn).toEqual([]);
  expect(comparisonDifference(analysisOf('a', 4), analysisOf('b', 4, { params: { x: 1 } })).estimators[0].differsIn).toEqual(['params']); // prettier-ignore
  const apart = comparisonDifference(analysisOf('a', 4), analysisOf('b', 4, { label: 'grpo:2' }));
  expect(apart).toMatchObject({ estimators: [], truths: [], onlyFirst: ['grpo'], onlySecond: ['grpo:2'] });
});
