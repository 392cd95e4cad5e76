import { expect, it } from 'vitest';
import { knownMeasures, PAIR_MEASURES } from './pair-measures.js';
import { matrixCells, rankAgreement } from './matrix-cells.js';
import { scoreOf, scoreWithout, spreadOf } from './label-scores.js';
import { chosenTruth, estimateOf, firstErrorChance, isLabel } from './truth-measures.js';
import { costsByEstimator } from './costs.js';
import { turnProfiles } from './turn-profiles.js';

it('fills both halves of the matrix and leaves the undefined empty', () => {
  const cells = matrixCells(
    ['x', 'y', 'z'],
    [
      { a: 'x', b: 'y', spearman: -0.5 },
      { a: 'x', b: 'z', spearman: null },
      { a: 'x', b: 'gone', spearman: 1 },
    ],
    rankAgreement,
  );
  expect(cells.map(({ row, column, value }) => [row, column, value])).toEqual([
    [0, 1, -0.5],
    [1, 0, -0.5],
  ]);
});

it('puts profiles in spreads of their estimator, and leaves out one that never varies', () => {
  const detail = { meanByTurn: [2, null], countByTurn: [7, 3] };
  const { profiles, turns } = turnProfiles([
    { id: 'a', std: 4, detail },
    { id: 'flat', std: 0, detail: { meanByTurn: [0], countByTurn: [9] } },
    { id: 'silent', std: null, detail: {} },
  ]);
  expect(profiles).toEqual([{ estimator: 'a', mean: Float64Array.of(0.5, Number.NaN) }]);
  expect([...turns]).toEqual([9, 3]);
});

const truth = (signal: string, estimator: string, n: number, detail: object) => ({
  signal,
  estimator,
  n,
  auc: 0.7,
  spearman: 0.2,
  withinTrajectoryPairAccuracy: 0.6,
  gradientCosine: null,
  detail,
});

it('reads a number against a truth with its interval, and none where the comparison is older than it', () => {
  const intervals = { auc: { low: 0.6, high: 0.8 } };
  const labels = truth('humanLabel', 'gae', 9, { isLabel: true, intervals, firstErrorHit: 0.3, firstErrorChance: 0.1 });
  expect(estimateOf(labels, 'auc')).toEqual({ value: 0.7, low: 0.6, high: 0.8 });
  expect(estimateOf(labels, 'firstErrorHit')).toEqual({ value: 0.3, low: null, high: null });
  expect(estimateOf(labels, 'aucMixedGroups')).toEqual({ value: null, low: null, high: null });
  expect([firstErrorChance(labels), firstErrorChance(undefined)]).toEqual([0.1, null]);
  expect(estimateOf(undefined, 'auc').value).toBeNull();
});

it('shows the truth that is asked for, else an exact one before labels, and none that nothing was held against', () => {
  const truths = [
    truth('humanLabel', 'a', 4, { isLabel: true }),
    truth('exactAdvantage', 'a', 9, {}),
    truth('mcValue', 'a', 0, {}),
  ];
  expect(chosenTruth(truths, undefined)).toBe('exactAdvantage');
  expect(chosenTruth(truths, 'humanLabel')).toBe('humanLabel');
  expect(chosenTruth(truths, 'mcValue')).toBe('exactAdvantage');
  expect(chosenTruth([], 'humanLabel')).toBeNull();
  expect([isLabel(truths, 'humanLabel'), isLabel(truths, 'exactAdvantage')]).toEqual([true, false]);
});

it('adds up what an estimator took on all its devices', () => {
  const costs = costsByEstimator([
    { estimator: 'learned', device: 'cuda', seconds: 2 },
    { estimator: 'learned', device: 'wasm', seconds: 3 },
    { estimator: 'grpo', device: 'cpu', seconds: 0.5 },
  ]);
  expect(costs.get('learned')).toEqual({ seconds: 5, devices: ['cuda', 'wasm'] });
  expect(costs.get('grpo')).toEqual({ seconds: 0.5, devices: ['cpu'] });
});

it('puts chance in the middle of the scale, and offers only what some pair has', () => {
  const pair = { pearson: -1, spearman: null, signAgreement: 0.75, gradientCosine: null };
  expect(knownMeasures([pair])).toEqual(['spearman', 'pearson', 'signAgreement']);
  expect(knownMeasures([])).toEqual(['spearman']);
  expect(PAIR_MEASURES.signAgreement.agreement(pair)).toEqual({ value: 0.75, share: 0.5 });
  expect(PAIR_MEASURES.pearson.agreement(pair)).toEqual({ value: -1, share: -1 });
  expect(PAIR_MEASURES.gradientCosine.agreement(pair)).toBeNull();
});

it('reads what an estimator scores with all annotators and without one of them', () => {
  const scores = (auc: number) => ({
    n: 9,
    withinTrajectoryPairAccuracy: null,
    auc,
    spearman: 0.1,
    firstErrorHit: null,
    intervals: { auc: { low: auc - 0.1, high: auc + 0.1 } },
  });
  const row = {
    estimator: 'gae',
    spread: { auc: 0.25 },
    consensus: scores(0.5),
    without: [{ annotator: 'ada', ...scores(0.75) }],
  };
  expect(scoreOf(row.consensus, 'auc')).toEqual({ value: 0.5, low: 0.4, high: 0.6 });
  expect(scoreOf(row.consensus, 'spearman')).toEqual({ value: 0.1, low: null, high: null });
  expect(scoreWithout(row, 'ada', 'auc').value).toBe(0.75);
  expect(scoreWithout(row, 'bob', 'auc')).toEqual({ value: null, low: null, high: null });
  expect([spreadOf(row, 'auc'), spreadOf(row, 'spearman')]).toEqual([0.25, null]);
});
