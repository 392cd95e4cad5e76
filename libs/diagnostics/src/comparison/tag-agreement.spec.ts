import { trajectoryBatch } from '#lib/dataset';
import { pearson, seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { comparisonOf } from './comparison.js';
import { mergeSummaries } from './merge-summaries.js';
import { summarizeShard } from './summarize-shard.js';

const random = seededRandom('tags');
const TRAJECTORIES = Array.from({ length: 30 }, (_, i) => ({ type: ['pick', 'clean', 'heat'][i % 3], turns: 2 + (i % 4) })); // prettier-ignore

function summaryOf(from: number, to: number, estimators: readonly string[] = ['x', 'y'], more: object = {}) {
  const some = TRAJECTORIES.slice(from, to);
  const credit = (name: string) =>
    Float64Array.from(
      some.flatMap(({ type, turns }, i) =>
        // y is x where something is picked, and its opposite where it is cleaned
        Array.from({ length: turns }, (_, t) => {
          const x = (((from + i) * 7 + t * 3) % 11) - 5.5;
          return name === 'y' && type === 'clean' ? -x : name === 'y' && type === 'heat' ? random.normal() : x;
        }),
      ),
    );
  return summarizeShard({
    run: 'r',
    trajectories: trajectoryBatch(
      some.map(({ type, turns }, i) => ({ id: `t${from + i}`, group: `g${from + i}`, trainingStep: 0, outcomeReward: 1, signals: { taskType: type, task: `${from + i}`, ...more }, turns: Array.from({ length: turns }, () => ({})) })), // prettier-ignore
    ),
    credits: new Map(estimators.map((name) => [name, credit(name)])),
    truths: new Map(),
    sampleRate: 1,
    topK: 1,
  });
}

it('is the agreement among the trajectories of which the tag says the same', () => {
  const summary = mergeSummaries(summaryOf(0, 12), summaryOf(12, 30));
  const { tags } = comparisonOf(summary);
  expect(tags!.map(({ tag }) => tag)).toEqual(['task', 'taskType']);
  expect(tags![0]).toMatchObject({ values: null, reason: 'it says more than 16 different things' });
  const [clean, heat, pick] = tags![1].values!;
  expect([clean, heat, pick].map(({ value, trajectories }) => [value, trajectories])).toEqual([['clean', 10], ['heat', 10], ['pick', 10]]); // prettier-ignore
  expect(clean.pairs).toMatchObject([{ a: 'x', b: 'y', n: clean.turns, pearson: expect.closeTo(-1, 12), signAgreement: 0, flipCount: clean.turns }]); // prettier-ignore
  expect(pick.pairs[0]).toMatchObject({ pearson: expect.closeTo(1, 12), signAgreement: 1, flipCount: 0 });
  const columns = new Map(summary.sample.credits);
  const rows = TRAJECTORIES.flatMap(({ type, turns }) => Array.from({ length: turns }, () => type === 'heat'));
  const of = (name: string) => columns.get(name)!.filter((_, row) => rows[row]);
  expect(heat.pairs[0].pearson).toBeCloseTo(pearson(of('x'), of('y')), 12);
  expect(clean.turns + heat.turns + pick.turns).toBe(summary.outcomes.counts.turns);
});

it('leaves out, and says so, what would be too much beside other tags', () => {
  const many = Array.from({ length: 60 }, (_, i) => `e${i}`);
  const { tags } = comparisonOf(summaryOf(0, 6, many, { a: 'one' }), { resamples: 1 });
  expect(tags!.map(({ tag, values }) => [tag, values?.length ?? null])).toEqual([
    ['a', 1],
    ['task', null],
    ['taskType', null],
  ]);
  expect(tags![2].reason).toBe('1770 pairs by 3 values would be too much beside other tags');
});
