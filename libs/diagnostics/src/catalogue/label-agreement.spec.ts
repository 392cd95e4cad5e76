import { expect, it } from 'vitest';
import { diagnoseSteps, times } from '../diagnose-steps.fixture.js';
import { labelAgreement, labelAgreementDiagnostic, labelCounts } from './label-agreement.js';

const agreement = (a: number[], b: number[], turnOffsets = [0, a.length]) =>
  labelAgreement(labelCounts(Int32Array.from(turnOffsets), Float64Array.from(a), Float64Array.from(b)));

it('works out κ, recall and precision by hand', () => {
  // observed 3/4; expected 1/2 · 1/4 + 0 + 1/2 · 3/4 = 1/2
  const found = agreement([-1, -1, 1, 1], [-1, 1, 1, 1]);
  expect(found).toMatchObject({ stepAccuracy: 0.75, kappa: 0.5, recall: [0.5, null, 1], precision: [1, null, 2 / 3] });
  expect(found.macroF1).toBeCloseTo((2 / 3 + 0.8) / 2, 12);
});

it('counts a missing label as a mismatch, and leaves it out of κ', () => {
  const found = agreement([1, -1, 0], [1, -1, NaN]);
  expect(found).toMatchObject({ stepAccuracy: 2 / 3, kappa: 1, exactAccuracy: 0, firstErrorAccuracy: 1 });
});

it('finds the first error per trajectory', () => {
  expect(agreement([1, -1, 1, 1], [1, -1, -1, 1], [0, 2, 4])).toMatchObject({ exactAccuracy: 0.5, firstErrorAccuracy: 0.5 }); // prettier-ignore
});

it('has no κ where only one label was given', () => {
  expect(agreement([1, 1], [1, 1])).toMatchObject({ kappa: null, macroF1: 1 });
});

it('leaves labels that are none of the three out of the confusion', () => {
  const found = agreement([0.5, 2, -1, 0, 1e-17], [0.5, 0, 1e10, -0, 0]);
  expect(found).toMatchObject({ stepAccuracy: 2 / 5, firstErrorAccuracy: 0, confusion: [[0, 0, 0], [0, 1, 0], [0, 0, 0]] }); // prettier-ignore
});

const step = (judge: readonly number[]) => ({
  records: Array.from({ length: 8 }, (_, i) => ({
    id: `t${i}`,
    group: 'g',
    turns: [1, -1, 1, -1].map((humanLabel, t) => ({ signals: { humanLabel, judgeLabel: judge[t] } })),
  })),
});

it('warns of labels too weak to rank by', () => {
  const weak = diagnoseSteps(labelAgreementDiagnostic, times(3, step([1, 1, -1, -1])));
  expect(weak.alerts).toMatchObject([{ rule: 'weak-labels', saw: { kappa: 0 } }]);
  expect(weak.evidence[0].note).toBe('8 of 8 trajectories are labelled differently');
  expect(diagnoseSteps(labelAgreementDiagnostic, times(3, step([1, -1, 1, -1]))).alerts).toEqual([]);
});

it('says which labels are missing', () => {
  const records = [{ id: 't', group: 'g', turns: [{ signals: { humanLabel: 1 } }] }];
  expect(diagnoseSteps(labelAgreementDiagnostic, [{ records }]).sentence).toMatch(/turn\.judgeLabel/);
});
