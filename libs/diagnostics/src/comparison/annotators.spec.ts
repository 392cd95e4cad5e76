import { trajectoryBatch, joinAnnotations } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { comparisonOf } from './comparison.js';
import { mergeSummaries } from './merge-summaries.js';
import { summarizeShard } from './summarize-shard.js';

const _ = null;
type Label = -1 | 0 | 1 | null;

/** Two trajectories of three turns in each of some groups; every annotator labels the turns one after the other. */
function summaryOf(credit: readonly number[], said: Readonly<Record<string, readonly Label[]>>, signal = 'humanLabel') {
  const count = credit.length / 3;
  const recorded = trajectoryBatch(
    Array.from({ length: count }, (_unused, i) => ({ id: `t${i}`, group: `g${i >> 1}`, trainingStep: 0, outcomeReward: i % 2, turns: [{}, {}, {}] })), // prettier-ignore
  );
  const annotations = Object.entries(said).flatMap(([annotator, labels]) =>
    labels.flatMap(
      (label, at) =>
      label === null ? [] : [{ position: at, trajectory: `t${Math.floor(at / 3)}`, turn: at % 3, annotator, attempt: 0, signals: { [signal]: label } }], // prettier-ignore
    ),
  );
  return summarizeShard({
    run: 'r',
    trajectories: joinAnnotations(recorded, annotations),
    credits: new Map([['x', Float64Array.from(credit)]]),
    truths: new Map(),
    sampleRate: 1,
    topK: 1,
  });
}

it('holds an estimator against the consensus, and against it without each annotator', () => {
  // of each trajectory the credit rises
  const credit = [0, 1, 2, 0, 1, 2];
  const { annotators } = comparisonOf(
    summaryOf(credit, {
      ann: [-1, 0, 1, -1, 1, 1],
      bob: [-1, 0, 1, 1, 0, -1],
      eve: [-1, 1, 1, 1, 0, -1],
    }),
  );
  expect(annotators).toHaveLength(1);
  const [{ signal, annotators: raters, estimators }] = annotators!;
  expect([signal, raters]).toEqual(['humanLabel', ['ann', 'bob', 'eve'].map((annotator) => ({ annotator, turns: 6 }))]);
  const [{ estimator, consensus, without, spread }] = estimators;
  // consensus: −1 0 1 | 1 0 −1: of 3 + 3 pairs the first three are in order
  expect(estimator).toBe('x');
  expect(consensus).toMatchObject({ n: 6, withinTrajectoryPairAccuracy: 0.5, firstErrorHit: 0.5 });
  expect(without.map(({ annotator }) => annotator)).toEqual(['ann', 'bob', 'eve']);
  // without ann: −1 ? 1 | 1 0 −1: one of four pairs; without bob: −1 ? 1 | ? ? ?: of the last trajectory none agrees
  expect(without[0]).toMatchObject({ n: 5, withinTrajectoryPairAccuracy: 0.25 });
  expect(without[1]).toMatchObject({ n: 2, withinTrajectoryPairAccuracy: 1, firstErrorHit: 1 });
  // without eve: −1 0 1 | ? ? ?
  expect(without[2]).toMatchObject({ n: 3, withinTrajectoryPairAccuracy: 1 });
  expect(spread.withinTrajectoryPairAccuracy).toBe(0.75);
});

it('says how sure each score is, and the same of shards as of the whole', () => {
  const random = seededRandom('annotators');
  const turns = 3 * 2 * 20;
  const truth = Array.from({ length: turns }, () => random.normal());
  const credit = truth.map((value) => value + random.normal());
  const labels = (noise: number) => truth.map((value) => Math.sign(Math.round(value + noise * random.normal())) as Label); // prettier-ignore
  const said = { ann: labels(0.1), bob: labels(0.1), eve: labels(2), joe: labels(0.1).map((label, at) => (at < 60 ? label : _)) }; // prettier-ignore
  const whole = comparisonOf(summaryOf(credit, said)).annotators!;
  const [{ consensus, without }] = whole[0].estimators;
  const { low, high } = consensus.intervals.withinTrajectoryPairAccuracy;
  expect(low).toBeLessThan(consensus.withinTrajectoryPairAccuracy!);
  expect(high).toBeGreaterThan(consensus.withinTrajectoryPairAccuracy!);
  for (const score of without) expect(score.intervals.auc.low).toBeLessThan(score.intervals.auc.high!);
  // joe labelled the first half alone
  expect(whole[0].annotators.at(-1)).toEqual({ annotator: 'joe', turns: expect.any(Number) });

  const half = (from: number, to: number) =>
    summaryOf(
      credit.slice(from, to),
      Object.fromEntries(Object.entries(said).map(([name, of]) => [name, of.slice(from, to)])),
    );
  const merged = comparisonOf(mergeSummaries(half(0, 60), half(60, 120)));
  expect(merged.annotators).toEqual(whole);
});

it('has nothing to leave out of one annotator, and takes labels under other names for none', () => {
  expect(comparisonOf(summaryOf([0, 1, 2], { ann: [1, 0, -1] })).annotators).toEqual([]);
  expect(comparisonOf(summaryOf([0, 1, 2], {})).annotators).toEqual([]);
  expect(comparisonOf(summaryOf([0, 1, 2], { a: [1, 0, 1], b: [1, 0, 1] }, 'mood')).annotators).toEqual([]);
  const judges = comparisonOf(summaryOf([0, 1, 2], { a: [1, 0, 1], b: [1, 0, 1] }, 'judgeLabel')).annotators!;
  expect(judges.map(({ signal }) => signal)).toEqual(['judgeLabel']);
});
