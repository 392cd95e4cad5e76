import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseSteps, times } from '../diagnose-steps.fixture.js';
import { aucOfEstimates, calibrationOf, calibrationSums, estimatesOf, predictorCalibrationDiagnostic, subgroupRegret } from './predictor-calibration.js'; // prettier-ignore

/** One turn each: the estimate and how it ended. */
const records = (...turns: (readonly [estimate: number, success: number])[]) =>
  turns.map(([successEstimate, outcomeReward], i) => ({
    id: `t${i}`,
    group: 'g',
    outcomeReward,
    turns: [{ signals: { successEstimate } }],
  }));
const batch = (...turns: Parameters<typeof records>) =>
  trajectoryBatch(records(...turns).map((record) => ({ ...record, trainingStep: 0 })));

it('works out error, parts and skill by hand', () => {
  const trajectories = batch([0.2, 0], [0.2, 1], [0.9, 1], [0.9, 1]);
  const estimates = estimatesOf(trajectories)!;
  const found = calibrationOf(calibrationSums(estimates, 10));
  expect(found.count).toBe(4);
  expect(found.bins[2]).toEqual([2, 0.2, 0.5]);
  expect(found.ece).toBeCloseTo(0.2, 12);
  expect(found.mce).toBeCloseTo(0.3, 12);
  expect(found.brier).toBeCloseTo((0.04 + 0.64 + 0.02) / 4, 12);
  expect(found.uncertainty).toBeCloseTo(0.1875, 12);
  expect(found.resolution).toBeCloseTo(0.0625, 12);
  expect(found.reliability).toBeCloseTo(0.05, 12);
  expect(found.logLoss).toBeCloseTo(-(Math.log(0.8) + Math.log(0.2) + 2 * Math.log(0.9)) / 4, 12);
  expect(aucOfEstimates(estimates)).toBeCloseTo(2.5 / 3, 12);
  expect(subgroupRegret(trajectories, estimates)['g']).toBeCloseTo(0.7 - 0.75, 12);
});

it('puts an edge into the upper bin, and 1 into the last', () => {
  const { bins } = calibrationSums(estimatesOf(batch([0.5, 1], [1, 1]))!, 10);
  expect(bins[5][0]).toBe(1);
  expect(bins[9][0]).toBe(1);
});

const step = (estimateOfWin: number, estimateOfLoss: number) => ({
  records: records(...times(20, [estimateOfWin, 1] as const), ...times(20, [estimateOfLoss, 0] as const)),
});
const rules = (...given: Parameters<typeof step>) =>
  diagnoseSteps(predictorCalibrationDiagnostic, times(3, step(...given))).alerts.map(({ rule }) => rule);

it('warns of estimates that are off, and of those that are worse than none', () => {
  expect(rules(0.95, 0.05)).toEqual([]);
  expect(rules(0.8, 0.2)).toEqual(['miscalibrated']);
  expect(rules(0.1, 0.9)).toEqual(['miscalibrated', 'worse-than-constant']);
});

it('adds the steps up before it compares', () => {
  const half = (won: number) => ({
    records: records(...times(won, [0.5, 1] as const), ...times(20 - won, [0.5, 0] as const)),
  });
  const { values, steps } = diagnoseSteps(predictorCalibrationDiagnostic, [half(14), half(6)]);
  expect(steps.map(({ values: ofStep }) => ofStep['ece'])).toEqual([expect.closeTo(0.2, 12), expect.closeTo(0.2, 12)]);
  expect(values).toMatchObject({ count: 40, ece: 0, auc: 0.5 });
});

it('shows the groups whose own rate says more', () => {
  const { evidence } = diagnoseSteps(predictorCalibrationDiagnostic, [step(1, 1), step(1, 0)]);
  expect(evidence).toEqual([
    { trainingStep: 0, group: 'g', note: "worse than the group's own rate by 10 in squared error" },
  ]);
});

it('names the three groups of highest regret, of equal ones the first', () => {
  const groups = [['a', 0.4], ['b', 1], ['c', 0.9], ['d', 1], ['e', 1], ['f', 0]] as const; // prettier-ignore
  const trajectories = trajectoryBatch(groups.map(([group, estimate], i) => ({ ...records([estimate, 0])[0], id: `t${i}`, group, trainingStep: 0 }))); // prettier-ignore
  const measured = () => predictorCalibrationDiagnostic.measure({ trajectories, metrics: {} } as never, { bins: 10 });
  expect(measured()).toMatchObject({ worst: [['b', 1], ['d', 1], ['e', 1]], trajectories: 6 }); // prettier-ignore
  expect(measured()).toEqual(measured());
});

it('has no skill where all ended alike, and says why', () => {
  const { values, reasons } = diagnoseSteps(predictorCalibrationDiagnostic, [{ records: records([0.5, 1], [0.6, 1]) }]);
  expect(values).toMatchObject({ brierSkill: null, auc: null });
  expect(reasons['brierSkill']).toBe('all trajectories ended alike');
});
