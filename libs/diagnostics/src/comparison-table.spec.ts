import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { comparisonTable } from './comparison-table.js';
import { comparisonOf } from './comparison/comparison.js';
import { NO_SUMMARY } from './comparison/merge-summaries.js';
import { summarizeShard } from './comparison/summarize-shard.js';

const CREDITS = { opposite: [-1, -2, -3, -4], right: [1, 2, 3, 4], constant: [1, 1, 1, 1], near: [1, 3, 2, 4] };

function compare(truths: Record<string, number[]>) {
  const columns = (of: Record<string, number[]>) =>
    new Map(Object.entries(of).map(([name, values]) => [name, Float64Array.from(values)]));
  const trajectories = trajectoryBatch(['a', 'b'].map((id) => ({ id, group: id, trainingStep: 0, turns: [{}, {}] })));
  const shard = { run: 'r', trajectories, credits: columns(CREDITS), truths: columns(truths), sampleRate: 1, topK: 1 };
  return comparisonOf(summarizeShard(shard));
}

describe('comparison table', () => {
  it('puts the best agreement with the truth first and what has none last', () => {
    const { truth, rows } = comparisonTable(compare({ exactAdvantage: [1, 2, 3, 4] }));
    expect(truth).toBe('exactAdvantage');
    expect(rows.map(({ estimator, spearman }) => [estimator, spearman])).toEqual([
      ['right', 1],
      ['near', expect.closeTo(0.8, 12)],
      ['opposite', -1],
      ['constant', null],
    ]);
    expect(rows[0]).toMatchObject({ turns: 4, signalDensity: 1, groups: 2, groupsWithSignal: 2, mean: 2.5 });
  });

  it('puts the most pairs in order first where the truth is labels, for what tells turns of one trajectory apart', () => {
    const { isLabel, rows } = comparisonTable(compare({ humanLabel: [1, -1, 1, 1] }));
    expect(isLabel).toBe(true);
    expect(rows.map((row) => [row.estimator, row.withinTrajectoryPairAccuracy])).toEqual([
      ['opposite', 1],
      ['constant', 0.5],
      ['near', 0],
      ['right', 0],
    ]);
    expect(rows[0].against?.intervals.auc).toEqual({ low: expect.any(Number), high: expect.any(Number) });
  });

  it('has the share of opposite signs, 0 with itself', () => {
    const { agreement } = comparisonTable(compare({ exactAdvantage: [1, 2, 3, 4] }), { measure: 'flipShare' });
    expect(agreement[0]).toEqual([0, 0, 1, 0]);
    const gradient = comparisonTable(compare({ exactAdvantage: [1, 2, 3, 4] }), { measure: 'gradientCosine' });
    expect(gradient.agreement[0]).toEqual([1, null, null, null]); // no log-probability was logged
  });

  it('has the agreement of every pair in the order of its rows', () => {
    const { agreement } = comparisonTable(compare({ exactAdvantage: [1, 2, 3, 4] }));
    expect(agreement).toEqual([
      [1, expect.closeTo(0.8, 12), -1, null],
      [expect.closeTo(0.8, 12), 1, expect.closeTo(-0.8, 12), null],
      [-1, expect.closeTo(-0.8, 12), 1, null],
      [null, null, null, 1],
    ]);
    const signs = comparisonTable(compare({}), { measure: 'signAgreement' });
    expect(signs.agreement[0]).toEqual([1, 1, 0, 1]);
  });

  it('measures against the truth that is named, else the one that is known to be the best', () => {
    const comparison = compare({ aJudge: [1, 0, 1, 0], humanLabel: [-1, 0, 1, 1] });
    expect(comparisonTable(comparison).truth).toBe('humanLabel');
    expect(comparisonTable(comparison, { truth: 'aJudge' }).rows[0].spearman).not.toBeNull();
    expect(comparisonTable(compare({ exactAdvantage: [NaN, NaN, NaN, NaN], aJudge: [1, 0, 1, 0] })).truth).toBe(
      'aJudge',
    );
  });

  it('goes by name where there is no truth', () => {
    const { truth, rows } = comparisonTable(compare({}));
    expect(truth).toBeNull();
    expect(rows.map(({ estimator }) => estimator)).toEqual(['constant', 'near', 'opposite', 'right']);
    expect(comparisonTable(comparisonOf(NO_SUMMARY))).toEqual({
      truth: null,
      isLabel: false,
      rows: [],
      agreement: [],
    });
  });
});
