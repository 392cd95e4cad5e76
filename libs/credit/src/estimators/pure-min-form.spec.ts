import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { pureMinForm } from './pure-min-form.js';

const scored = (scores: number[], outcome = 1, hasVerifier = true, tokenCount = 5) => ({
  ...rollout('g', outcome, scores.map((processReward) => ({ signals: { processReward, tokenCount } }))), // prettier-ignore
  signals: { hasVerifier },
});
const two = [scored([0.6, -0.2, 0.4]), scored([0.5, 0.7])];
const processOnly = { useOutcomeReward: false };
const outcomeOnly = { useProcessReward: false };

describe('pure-min-form', () => {
  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(pureMinForm, two, processOnly);
    expectNumbers(columns.weightedProcessReward, [0.0002, -0.1994, 0.001, 0.4404, 0.0834], 1e-4);
    expectNumbers(columns.processOutcome, [-0.1982, 0.5238], 1e-4);
    expectNumbers(turnAdvantage, [-0.8269, -0.6175, -0.2085, 0.6296, 0.1363], 1e-4);
    const perTurn = estimateOf(pureMinForm, two, { ...processOnly, baselineGranularity: 'turn' });
    expectNumbers(perTurn.turnAdvantage, [-0.984, -0.7223, -0.2609, 0.656, 0.1495], 1e-4);
  });

  it('puts the weight on the worst turn as the temperature falls, and on all alike in its mean form', () => {
    const cold = estimateOf(pureMinForm, two, { ...processOnly, softminTemperature: 1e-3 });
    expectNumbers(cold.columns.processOutcome, [-0.2, 0.5], 1e-9);
    const mean = estimateOf(pureMinForm, two, { ...processOnly, creditForm: 'mean' });
    expectNumbers(mean.columns.processOutcome, [0.8 / 3, 0.6], 1e-12);
  });

  it('adds the verified outcome, against the others, to all turns of a trajectory', () => {
    const given = [scored([0, 0], 1), scored([0], 0), scored([0], 0, false)];
    // v = 0, −1, and 0 without a verifier
    const { turnAdvantage, columns } = estimateOf(pureMinForm, given, { ...outcomeOnly, outcomeWeight: 2 });
    expectNumbers(turnAdvantage, [1, 1, -2, 1], 1e-12);
    expect(columns.turnReward).toEqual([[0, 1], [-2], [1]]);
  });

  it('shows the credit on tokens, with or without the separator', () => {
    const given = [scored([0], 1, true, 3), scored([0], 0, true, 2)];
    expect(estimateOf(pureMinForm, given, outcomeOnly).tokenAdvantage).toEqual([[[1, 1, 0]], [[-1, 0]]]);
    const kept = estimateOf(pureMinForm, given, { ...outcomeOnly, maskSeparatorToken: false });
    expect(kept.tokenAdvantage).toEqual([[[1, 1, 1]], [[-1, -1]]]);
    const halves = [scored([0], 1, true, 2.5), scored([0], 0, true, 2)];
    expect(estimateOf(pureMinForm, halves, outcomeOnly).tokenAdvantage).toBeUndefined();
  });

  it('gives 0 to trajectories that agree with the turn baseline, and not with the token baseline', () => {
    const same = [scored([0.5]), scored([0.5])];
    const perTurn = estimateOf(pureMinForm, same, { baselineGranularity: 'turn' });
    expect(flat(perTurn.turnAdvantage)).toEqual([0, 0]);
    // 0.5 − 0.5 / 5 · 4
    expectNumbers(estimateOf(pureMinForm, same).turnAdvantage, [0.1, 0.1], 1e-12);
  });

  it('gives 0 to a group of one, saying so, or lets it go without a baseline', () => {
    const alone = estimateOf(pureMinForm, [scored([0.5], 0)]);
    expect(alone.turnAdvantage).toEqual([[0]]);
    expect(alone.warnings).toEqual([
      'groups of one trajectory, for which the reference is not defined: 1, which got 0',
    ]);
    expectNumbers(creditOf(pureMinForm, [scored([0.5], 0)], { singleton: 'raw' }).values, [0.5 - 1], 1e-12);
  });

  it('leaves a trajectory without turns out of the baselines', () => {
    const given = [...two, scored([])];
    for (const baselineGranularity of ['token', 'turn']) {
      const params = { ...processOnly, baselineGranularity };
      expectNumbers(creditOf(pureMinForm, given, params).values, creditOf(pureMinForm, two, params).values, 1e-12);
    }
  });

  it('asks only for what it uses', () => {
    const bare = [{ ...rollout('g', 1, [{ signals: { tokenCount: 2 } }]), signals: { hasVerifier: true } }, { ...rollout('g', 0, [{ signals: { tokenCount: 2 } }]), signals: { hasVerifier: true } }]; // prettier-ignore
    expectNumbers(creditOf(pureMinForm, bare, outcomeOnly).values, [1, -1], 1e-12);
    expect(() => creditOf(pureMinForm, bare)).toThrow('turn.processReward');
  });
});
