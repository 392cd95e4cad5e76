import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { auc, seededRandom, spearman } from '#lib/numeric';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparisonOf } from './comparison.js';
import type { DisputedTurn } from './disputes.js';
import { decodeSummary, encodeSummary } from './encode-summary.js';
import { mergeSummaries, NO_SUMMARY } from './merge-summaries.js';
import { summarizeShard } from './summarize-shard.js';

interface Turn {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly truth: number;
  readonly label: number;
}

interface Group {
  readonly name: string;
  readonly trajectories: readonly { readonly outcomeReward: number; readonly turns: readonly Turn[] }[];
}

/** Groups as training gives them: ragged, some of one trajectory, some without a turn, credit missing here and there. */
function groupsOf(count: number, seed: number): Group[] {
  const random = seededRandom(seed);
  const sometimes = (value: number) => (random.next() < 0.1 ? NaN : value);
  const turn = (outcome: number): Turn => {
    const truth = random.normal();
    const noisy = truth + random.normal();
    const label = truth > 0.7 ? 1 : truth < -0.7 ? -1 : 0;
    return { x: outcome - 0.5, y: sometimes(noisy), z: random.next() < 0.5 ? 0 : random.normal(), truth, label };
  };
  return Array.from({ length: count }, (_, g) => ({
    name: `g${g}`,
    trajectories: Array.from({ length: 1 + random.integer(4) }, () => {
      const outcomeReward = random.integer(2);
      return { outcomeReward, turns: Array.from({ length: random.integer(7) }, () => turn(outcomeReward)) };
    }),
  }));
}

function shardOf(groups: readonly Group[], { sampleRate = 1, topK = 5, estimators = ['x', 'y', 'z'] } = {}) {
  const trajectories: TrajectoryBatch = trajectoryBatch(
    groups.flatMap(({ name, trajectories }) =>
      trajectories.map(({ outcomeReward, turns }, i) => ({
        id: `${name}-${i}`,
        group: name,
        trainingStep: 0,
        outcomeReward,
        success: outcomeReward === 1,
        turns: turns.map(() => ({})),
      })),
    ),
  );
  const turns = groups.flatMap((group) => group.trajectories.flatMap((trajectory) => trajectory.turns));
  const column = (name: string) => Float64Array.from(turns, (turn) => turn[name as keyof Turn]);
  const columns = (names: readonly string[]) => new Map(names.map((name) => [name, column(name)]));
  return {
    run: 'r',
    trajectories,
    credits: columns(estimators),
    truths: columns(['truth', 'label']),
    sampleRate,
    topK,
  };
}

const summaryOf = (groups: readonly Group[], options?: Parameters<typeof shardOf>[1]) =>
  summarizeShard(shardOf(groups, options));

/** Equal but for rounding: 1e-12 of the larger, or of 1. */
function expectClose(found: unknown, expected: unknown, path = ''): void {
  if (typeof found === 'number' && typeof expected === 'number') {
    const scale = Math.max(1, Math.abs(found), Math.abs(expected));
    if (Math.abs(found - expected) > 1e-12 * scale) expect.fail(`${path}: found ${found}, expected ${expected}`);
  } else if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found), path).toEqual(Object.keys(expected));
    for (const [key, value] of Object.entries(found)) {
      expectClose(value, expected[key as keyof typeof expected], `${path}.${key}`);
    }
  } else {
    expect(found, path).toEqual(expected);
  }
}

describe('a comparison', () => {
  it('has an AUC over groups of mixed outcomes alone, whatever is left out of the sample', () => {
    const turn = (x: number, label: number): Turn => ({ x, y: x, z: x, truth: label, label });
    const trajectory = (outcomeReward: number, ...turns: Turn[]) => ({ outcomeReward, turns });
    const groups: Group[] = [
      { name: 'easy', trajectories: [trajectory(1, turn(5, 1)), trajectory(1, turn(4, 1))] },
      { name: 'hard', trajectories: [trajectory(0, turn(-5, -1)), trajectory(0, turn(-4, -1))] },
      { name: 'alone', trajectories: [trajectory(1, turn(9, 1))] },
      {
        name: 'mixed',
        trajectories: [trajectory(1, turn(1, 1), turn(1, -1)), trajectory(0, turn(-1, -1), turn(2, 0))],
      },
    ];
    const byLabel = (shards: readonly Group[][]) => {
      const summary = mergeSummaries(...shards.map((shard) => decodeSummary(encodeSummary(summaryOf(shard)))));
      return comparisonOf(summary).truths.find(({ signal, estimator }) => signal === 'label' && estimator === 'x')!;
    };
    // of mixed: the one +1 (credit 1) against -1 with credit 1 and -1: (1/2 + 1) / 2; of all: 4 · 4 pairs, one tie
    expect(byLabel([groups])).toMatchObject({ auc: 15.5 / 16, aucMixedGroups: 0.75 });
    expect(byLabel(groups.map((group) => [group]))).toMatchObject({ auc: 15.5 / 16, aucMixedGroups: 0.75 });
    const { aucMixedGroups, intervals, reasons } = byLabel([groups.slice(0, 3)]);
    expect([aucMixedGroups, intervals.aucMixedGroups.low]).toEqual([null, null]);
    expect(reasons?.['aucMixedGroups']).toMatch(/no group of mixed outcomes/);
  });

  it('is that of the whole, wherever groups are cut into shards and however these are nested', () => {
    const cuts = fc.array(fc.nat(12), { maxLength: 4 });
    fc.assert(
      fc.property(fc.nat(1e6), cuts, fc.boolean(), (seed, cuts, nested) => {
        const groups = groupsOf(12, seed);
        const bounds = [0, ...cuts.sort((a, b) => a - b), 12];
        const shards = bounds.slice(1).map((end, i) => summaryOf(groups.slice(bounds[i], end)));
        const merged = nested
          ? shards.reduceRight((later, shard) => mergeSummaries(shard, later))
          : mergeSummaries(...shards);
        expectClose(comparisonOf(merged, { resamples: 20 }), comparisonOf(summaryOf(groups), { resamples: 20 }));
      }),
      // of turns of equal strength, which every merge rounds otherwise, the first ones
      {
        numRuns: 60,
        examples: [
          [247465, [1], false],
          [291019, [3, 3, 7], false],
          [753907, [4, 9, 12], true],
        ],
      },
    );
  });

  it('does not depend on the order of the shards, but for rounding and the draws of the bootstrap', () => {
    const shards = Array.from({ length: 6 }, (_, i) => groupsOf(5, i).map((g) => ({ ...g, name: `${i}-${g.name}` })));
    const comparison = (order: typeof shards) =>
      comparisonOf(mergeSummaries(...order.map((groups) => summaryOf(groups))), { resamples: 0 });
    // x has two values only: of its equals the earlier turns are in the top and are disputed, so other turns may be.
    const withoutTies = ({ pairs, disputed, ...found }: ReturnType<typeof comparison>) => ({
      ...found,
      pairs: pairs.map(({ disputed, ...pair }) => ({ ...pair, topOverlap: null, strengths: strengthsOf(disputed) })),
      strengths: strengthsOf(disputed),
    });
    const strengthsOf = (disputed: readonly DisputedTurn[]) => disputed.map(({ strength }) => strength);
    expectClose(withoutTies(comparison(shards.toReversed())), withoutTies(comparison(shards)));
  });

  it('agrees with the textbook where everything is in the sample', () => {
    const groups = groupsOf(40, 7);
    const { credits, truths } = shardOf(groups);
    const found = comparisonOf(summaryOf(groups));
    const [x, y, z] = ['x', 'y', 'z'].map((name) => credits.get(name)!);
    const truth = truths.get('truth')!;
    expect(found.sample.sampled).toBe(false);
    expectClose(
      found.pairs.map((pair) => pair.spearman),
      [spearman(x, y), spearman(x, z), spearman(y, z)],
    );
    const rows = found.truths.filter(({ signal }) => signal === 'truth');
    expectClose(
      rows.map((row) => row.spearman),
      [x, y, z].map((credit) => spearman(credit, truth)),
    );
    expectClose(
      rows.map((row) => row.auc),
      [x, y, z].map((credit) => auc(credit, truth)),
    );
    for (const row of rows) {
      expect(row.low!).toBeLessThan(row.spearman!);
      expect(row.high!).toBeGreaterThan(row.spearman!);
    }
  });

  it('says when it rests on a sample, and comes near the whole', () => {
    const groups = groupsOf(1500, 3);
    const whole = comparisonOf(summaryOf(groups), { resamples: 0 });
    const found = comparisonOf(summaryOf(groups, { sampleRate: 0.3 }), { resamples: 0 });
    expect(found.sample).toMatchObject({ sampled: true, rate: 0.3, ofTurns: whole.turns });
    expect(found.sample.turns / whole.turns).toBeCloseTo(0.3, 1);
    found.pairs.forEach((pair, i) => {
      expect(pair.pearson).toBe(whole.pairs[i].pearson);
      expect(Math.abs(pair.spearman! - whole.pairs[i].spearman!)).toBeLessThan(0.05);
    });
  });

  it('counts the groups with a signal by outcome and, per estimator, by credit', () => {
    const turn = { x: 0.5, y: 0, z: NaN, truth: 0, label: 0 };
    const group = (name: string, ...outcomes: number[]): Group => ({
      name,
      trajectories: outcomes.map((outcomeReward) => ({ outcomeReward, turns: [turn] })),
    });
    const found = comparisonOf(summaryOf([group('a', 0, 1), group('b', 1, 1), group('c', 1)]));
    expect(found).toMatchObject({ groups: 3, comparableGroups: 2, groupsWithSignal: 1, singletonGroups: 1 });
    expect(found.estimators.map(({ groups, groupsWithSignal }) => [groups, groupsWithSignal])).toEqual([
      [3, 3],
      [3, 0],
      [0, 0],
    ]);
  });

  it('keeps an estimator that only some shards have', () => {
    const [early, late] = [groupsOf(6, 1), groupsOf(6, 2)];
    const found = comparisonOf(mergeSummaries(summaryOf(early, { estimators: ['x'] }), summaryOf(late)));
    const alone = comparisonOf(summaryOf(late));
    expect(found.estimators.map(({ id }) => id)).toEqual(['x', 'y', 'z']);
    expectClose(found.estimators[1], alone.estimators[1]);
    expectClose(found.pairs[0].spearman, alone.pairs[0].spearman);
    expectClose(
      found.truths.find(({ estimator }) => estimator === 'y')!.auc,
      alone.truths.find(({ estimator }) => estimator === 'y')!.auc,
    );
  });

  it.each([
    ['no shard', NO_SUMMARY],
    ['no trajectory', summaryOf([])],
    ['a trajectory without a turn', summaryOf([{ name: 'g', trajectories: [{ outcomeReward: 1, turns: [] }] }])],
  ])('of %s is null throughout', (_, summary) => {
    const found = comparisonOf(summary);
    expect(found).toMatchObject({ turns: 0, silentTurnShare: null, disputed: [], sample: { sampled: false } });
    for (const row of [...found.estimators, ...found.pairs, ...found.truths]) {
      expect(Object.values(row)).not.toContain(NaN);
      expect(Object.keys(row.reasons).length).toBeGreaterThan(0);
    }
  });

  it('of one turn says what one turn can', () => {
    const turn = { x: 1, y: -1, z: 0, truth: 1, label: 1 };
    const found = comparisonOf(summaryOf([{ name: 'g', trajectories: [{ outcomeReward: 1, turns: [turn] }] }]));
    expect(found.estimators[0]).toMatchObject({
      turns: 1,
      mean: 1,
      std: 0,
      signalDensity: 1,
      withinTrajectoryShare: null,
    });
    expect(found.pairs[0]).toMatchObject({ n: 1, pearson: null, signAgreement: 0, topOverlap: 1 });
  });

  it('survives JSON: no number is NaN or infinite', () => {
    const found = comparisonOf(summaryOf(groupsOf(10, 4)));
    expect(JSON.parse(JSON.stringify(found))).toEqual(found);
  });

  it('refuses a column of another length by its name', () => {
    const shard = shardOf(groupsOf(3, 1));
    shard.credits.set('y', new Float64Array(2));
    expect(() => summarizeShard(shard)).toThrow(/^y: expected \d+ turns, found 2$/);
  });
});

describe('an encoded summary', () => {
  it('comes back as it was, and may be merged', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(8), (seed, count) => {
        const summary = summaryOf(groupsOf(count, seed), { sampleRate: 0.7 });
        const decoded = decodeSummary(encodeSummary(summary));
        expect(decoded).toEqual(summary);
        expect(comparisonOf(mergeSummaries(NO_SUMMARY, decoded), { resamples: 5 })).toEqual(
          comparisonOf(summary, { resamples: 5 }),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('has the same bytes each time, whatever NaN the credit held and in whatever order it came', () => {
    const groups = groupsOf(20, 5);
    const shard = shardOf(groups);
    const odd = new Float64Array(new BigUint64Array([0xfff8000000000123n]).buffer)[0];
    const again = {
      ...shard,
      credits: new Map(
        [...shard.credits].toReversed().map(([name, column]) => [name, column.map((v) => (v === v ? v : odd))]),
      ),
    };
    expect(encodeSummary(summarizeShard(again))).toEqual(encodeSummary(summarizeShard(shard)));
  });

  it('refuses what is no summary, and one that was cut off', () => {
    const bytes = encodeSummary(summaryOf(groupsOf(3, 1)));
    expect(() => decodeSummary(new TextEncoder().encode('not a summary at all'))).toThrow('expected a summary');
    expect(() => decodeSummary(bytes.subarray(0, bytes.length - 8))).toThrow('cut off');
  });

  it('may lie anywhere in a larger buffer', () => {
    const bytes = encodeSummary(summaryOf(groupsOf(3, 1)));
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(decodeSummary(shifted.subarray(3))).toEqual(decodeSummary(bytes));
  });
});
