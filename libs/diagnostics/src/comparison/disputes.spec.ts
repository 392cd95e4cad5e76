import { trajectoryBatch } from '#lib/dataset';
import { moments, populationStd, seededRandom } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { comparisonOf } from './comparison.js';
import { dispute } from './disputes.js';
import { mergeSummaries } from './merge-summaries.js';
import type { ShardSummary } from './shard-summary.js';
import { summarizeShard } from './summarize-shard.js';

const TURNS = 5;

/** Groups of two trajectories of five turns; `scale` stretches the credit of y, as another training step may. */
function shardOf(run: string, groups: number, scale = 1, topK = 6) {
  const random = seededRandom(run);
  const trajectories = trajectoryBatch(
    Array.from({ length: 2 * groups }, (_, i) => ({
      id: `t${i}`,
      group: `g${i >> 1}`,
      trainingStep: 0,
      turns: Array.from({ length: TURNS }, () => ({})),
    })),
  );
  const column = (factor: number) => Float64Array.from({ length: 2 * groups * TURNS }, () => factor * random.normal());
  const credits = new Map([
    ['x', column(1)],
    ['y', column(scale)],
    ['z', column(0.1)],
  ]);
  return { run, trajectories, credits, truths: new Map<string, Float64Array>(), sampleRate: 1, topK };
}

type Shard = ReturnType<typeof shardOf>;

/** Every turn of every shard, ranked with the spread of the whole. */
function ranked(shards: readonly Shard[], a: string, b: string) {
  const spread = (name: string) =>
    populationStd(moments(Float64Array.from(shards.flatMap((shard) => [...shard.credits.get(name)!]))));
  const [spreadA, spreadB] = [spread(a), spread(b)];
  const turns = shards.flatMap(({ run, credits }) =>
    Array.from(credits.get(a)!, (value, row) => ({
      address: `${run} t${Math.floor(row / TURNS)} ${row % TURNS}`,
      strength: dispute(value, credits.get(b)![row], spreadA, spreadB),
    })),
  );
  return turns.sort((left, right) => right.strength - left.strength);
}

describe('disputed turns', () => {
  it('are those that looking at every turn finds, of every pair, across shards of different scale', () => {
    const shards = [shardOf('a', 40), shardOf('b', 60, 2), shardOf('c', 3, 0.5), shardOf('d', 50)];
    const { pairs } = comparisonOf(mergeSummaries(...shards.map(summarizeShard)));
    for (const { a, b, disputed } of pairs) {
      const found = disputed.map(({ run, trajectory, turn }) => `${run} ${trajectory} ${turn}`);
      expect(found).toEqual(
        ranked(shards, a, b)
          .slice(0, 6)
          .map(({ address }) => address),
      );
    }
  });

  it('are listed once overall, by the pair that disputes them most, with what all estimators say', () => {
    const shard = shardOf('a', 40);
    const { pairs, disputed } = comparisonOf(summarizeShard(shard));
    const [first] = disputed;
    expect(first.strength).toBe(Math.max(...pairs.flatMap((pair) => pair.disputed.map(({ strength }) => strength))));
    expect(new Set(disputed.map(({ trajectory, turn }) => `${trajectory} ${turn}`)).size).toBe(disputed.length);
    const row = Number(first.trajectory.slice(1)) * TURNS + first.turn;
    for (const [name, column] of shard.credits) expect(first.values[name]).toBe(column[row]);
  });

  it('keeps its bound however many shards are merged', () => {
    const shards = Array.from({ length: 40 }, (_, i) => summarizeShard(shardOf(`r${i}`, 30)));
    // three pairs, four times topK each
    expect(mergeSummaries(...shards).candidates.turn.length).toBeLessThanOrEqual(3 * 4 * 6);
    const oneByOne = shards.reduce((merged, shard) => mergeSummaries(merged, shard));
    const turnsOf = (summary: ShardSummary) =>
      comparisonOf(summary).disputed.map(({ run, trajectory, turn, values }) => ({ run, trajectory, turn, values }));
    expect(turnsOf(oneByOne)).toEqual(turnsOf(mergeSummaries(...shards)));
  });

  it('is measured by the weaker of both, and only where the signs are opposite', () => {
    expect(dispute(2, -3, 1, 2)).toBe(1.5);
    expect(dispute(2, 3, 1, 2)).toBe(0);
    expect(dispute(2, 0, 1, 2)).toBe(0);
    expect(dispute(2, NaN, 1, 2)).toBe(0);
    expect(dispute(2, -3, 1, 0)).toBe(0);
  });

  it('does not lose a turn that was constant in its shard only', () => {
    const flat = shardOf('a', 4);
    flat.credits.set('x', new Float64Array(40).fill(3));
    const shards = [flat, shardOf('b', 4)];
    const { pairs } = comparisonOf(mergeSummaries(...shards.map(summarizeShard)));
    expect(pairs[0].disputed[0].strength).toBeCloseTo(ranked(shards, 'x', 'y')[0].strength, 12);
    expect(pairs[0].disputed[0].run).toBe('a');
  });
});
