import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { tokenRecords } from '../token-records.fixture.js';
import { entropyMomentsDiagnostic } from './entropy-moments.js';

it('divides moments over n by powers of the n − 1 deviation', () => {
  // c = −1, −1, −1, −1, 4 about the mean of 1: Σc² 20, Σc³ 60, Σc⁴ 260
  const records = tokenRecords({ entropy: [0, 0, 0, 0, 5] });
  const { values } = diagnoseSteps(entropyMomentsDiagnostic, [{ records }]);
  expect(values['variance']).toBeCloseTo(5, 12);
  expect(values['skewness']).toBeCloseTo(12 / 5 ** 1.5, 12);
  expect(values['excessKurtosis']).toBeCloseTo(52 / 25 - 3, 12);
});

it('leaves short trajectories out, and calls the shape of a constant 0', () => {
  const records = tokenRecords({ entropy: [1, 1, 1, 1, 1] }, { entropy: [9, 0, 9, 0] });
  const { values, steps } = diagnoseSteps(entropyMomentsDiagnostic, [{ records }]);
  expect(values).toEqual({ mean: 1, variance: 0, skewness: 0, excessKurtosis: 0 });
  expect(steps[0].observations).toBe(1);
});

it('says what it lacks', () => {
  const { sentence } = diagnoseSteps(entropyMomentsDiagnostic, [{ records: tokenRecords({ logprob: [-1] }) }]);
  expect(sentence).toMatch(/cannot be said: .*token\.entropy/);
});
