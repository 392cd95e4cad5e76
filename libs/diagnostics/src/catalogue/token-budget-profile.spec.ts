import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { tokenBudgetProfileDiagnostic } from './token-budget-profile.js';

const turn = (generated: number, observed: number, signals = {}) => ({
  tokens: { mask: [...Array<number>(observed).fill(0), ...Array<number>(generated).fill(1)] },
  signals,
});

it('notes a context that is mostly observations', () => {
  const run = (observed: number) => {
    const step = times(32, [rollout('a', 'g', 1, [turn(1, 1), turn(1, 2), turn(1, observed)])]);
    return diagnoseRecords(tokenBudgetProfileDiagnostic, [step, step, step]);
  };
  const full = run(17);
  expect(full.values['observationShare']).toBeCloseTo(20 / 23, 12);
  expect(full.values).toMatchObject({ earlyTokens: 2, lateTokens: 18 });
  expect(full.alerts.map(({ rule }) => rule)).toEqual(['mostly-observations']);
  expect(full.sentence).toBe('87 % of the tokens are observations; a turn has 2 tokens early and 18 late');
  expect(run(1).alerts).toEqual([]);
});

it('compares the success of those that omit with those that do not', () => {
  const omits = [{ signals: { omitsObservation: true } }, { signals: { omitsObservation: false } }];
  const keeps = [{ signals: { omitsObservation: false } }];
  const run = diagnoseRecords(tokenBudgetProfileDiagnostic, [[rollout('a', 'g', 0, omits), rollout('b', 'g', 1, keeps)]]); // prettier-ignore
  expect(run.values).toMatchObject({ omittedTurnShare: 1 / 3, successOmitting: 0, successKeeping: 1 });
  expect(run.reasons['observationShare']).toBe('needs token.mask');
});
