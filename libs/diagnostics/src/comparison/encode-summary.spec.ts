import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { decodeSummary, encodeSummary } from './encode-summary.js';
import { mergeSummaries } from './merge-summaries.js';
import { summarizeShard } from './summarize-shard.js';

const summary = summarizeShard({
  run: 'r',
  trajectories: trajectoryBatch([
    { id: 'a', group: 'g', trainingStep: 0, outcomeReward: 1, turns: [{}, {}] },
    { id: 'b', group: 'g', trainingStep: 0, outcomeReward: 0, turns: [{}] },
  ]),
  credits: new Map([
    ['grpo', Float64Array.of(1, 1, -1)],
    ['gigpo', Float64Array.of(-0.5, NaN, 0.25)],
  ]),
  truths: new Map([['exactAdvantage', Float64Array.of(0.5, -0.1, 0)]]),
  sampleRate: 1,
  topK: 4,
});

it('comes back as it was, from bytes of any kind', () => {
  const bytes = encodeSummary(summary);
  expect(decodeSummary(bytes)).toEqual(summary);
  // what the database driver hands out: a Buffer inside a larger pool, whose slice() is a view
  const pooled = Buffer.concat([Buffer.alloc(24), bytes]).subarray(24);
  expect(decodeSummary(pooled)).toEqual(summary);
  expect(mergeSummaries(decodeSummary(pooled))).toEqual(mergeSummaries(summary));
});

it('keeps sums that overflowed as they are', () => {
  const credit = Float64Array.of(1e308, 1e308, -1e308);
  const overflowing = summarizeShard({
    run: 'r',
    trajectories: trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns: [{}, {}, {}] }]),
    credits: new Map([['grpo', credit]]),
    truths: new Map([['exactAdvantage', credit]]),
    sampleRate: 1,
    topK: 4,
  });
  expect(overflowing.profiles[0][1].moments.m2).toBe(Infinity);
  expect(decodeSummary(encodeSummary(overflowing))).toEqual(overflowing);
});

it('has equal bytes where it is equal', () => {
  expect(encodeSummary(decodeSummary(encodeSummary(summary)))).toEqual(encodeSummary(summary));
});
