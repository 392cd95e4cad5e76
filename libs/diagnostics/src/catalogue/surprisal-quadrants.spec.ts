import { expect, it } from 'vitest';
import { diagnoseSteps, times } from '../diagnose-steps.fixture.js';
import { tokenRecords } from '../token-records.fixture.js';
import { surprisalQuadrants, surprisalQuadrantsDiagnostic } from './surprisal-quadrants.js';

const quadrants = (credit: number[], logprob: number[], topRatio = 0.1) =>
  surprisalQuadrants(
    { credit: Float64Array.from(credit), logprob: Float64Array.from(logprob), mask: null },
    { topRatio },
  );

it('weighs the most surprising tokens of either sign against the whole update', () => {
  expect(quadrants([3, 1, -2, -2, 0], [-5, -1, -0.5, -4, -9])).toEqual({
    tokenCount: 5,
    positiveShare: 0.4,
    negativeShare: 0.4,
    positiveHighCount: 1,
    negativeHighCount: 1,
    positiveHighMass: 3 / 8,
    negativeHighMass: 2 / 8,
    positiveThreshold: 5,
    negativeThreshold: 4,
  });
});

it('rounds the number of tokens up', () => {
  const eleven = Array.from({ length: 11 }, (_, k) => k);
  expect(quadrants(eleven.map(() => 1), eleven.map((k) => -k)).positiveHighCount).toBe(2); // prettier-ignore
});

it('takes the earlier of equally surprising tokens', () => {
  expect(quadrants([1, 5, 2, 2], [-1, -1, -1, -1], 0.5).positiveHighMass).toBe(6 / 10);
});

it('has no threshold where nobody is punished', () => {
  expect(quadrants([1], [-1])).toMatchObject({ negativeHighMass: 0, negativeThreshold: null });
});

// per step 30 common tokens of little weight, a rewarded and a punished surprise
const surprises = (rewarded: number, punished: number) =>
  tokenRecords({
    logprob: [...times(30, -0.1), -5, -5],
    loggedAdvantage: [...times(15, 0.01), ...times(15, -0.01), rewarded, -punished],
  });

it('notes that the tail is pruned while entropy falls', () => {
  const rules = (records: ReturnType<typeof surprises>, entropies: readonly number[]) =>
    diagnoseSteps(surprisalQuadrantsDiagnostic, entropies.map((entropy) => ({ records, metrics: { entropy } }))).alerts.map(({ rule }) => rule); // prettier-ignore
  const falling = [1, 0.9, 0.8, 0.7, 0.6];
  expect(rules(surprises(1, 3), falling)).toEqual(['tail-pruned']);
  expect(rules(surprises(1, 1), falling)).toEqual([]);
  expect(rules(surprises(1, 3), falling.toReversed())).toEqual([]);
});
