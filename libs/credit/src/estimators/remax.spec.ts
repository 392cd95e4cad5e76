import * as fc from 'fast-check';
import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';
import { remax } from './remax.js';

type Turns = Parameters<typeof rollout>[2];
const against = (greedyReward: number, turns: Turns, group = 'g') => ({
  ...rollout(group, 0, turns),
  signals: { greedyReward },
});
const TURN = { granularity: 'turn' };
const rewards = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 6 });
const turns = (values: number[]) => values.map((reward) => ({ reward }));

describe('remax', () => {
  it('gives the numbers of its page', () => {
    const example = against(0.4, [
      { tokens: { reward: [0, 0.5, 0], mask: [1, 1, 0] } },
      { tokens: { reward: [0, 1], mask: [1, 1] } },
    ]);
    const { tokenAdvantage, columns } = estimateOf(remax, [example]);
    expectNumbers(columns.tokenReturn, [1.5, 1.5, 0, 1, 1], 1e-12);
    expectNumbers(tokenAdvantage, [1.1, 1.1, 0, 0.6, 0.6], 1e-12);
  });

  it('subtracts the whole greedy reward at every turn', () => {
    const { turnAdvantage, columns } = estimateOf(remax, [against(1, turns([2, 0, 1])), against(0.5, [])], TURN);
    expect(columns.turnReturn).toEqual([[3, 1, 1], []]);
    expect(turnAdvantage).toEqual([[2, 0, 0], []]);
  });

  it('is constant where only the outcome is rewarded', () => {
    const outcome = fc.integer({ min: -9, max: 9 });
    fc.assert(
      fc.property(outcome, outcome, fc.integer({ min: 1, max: 6 }), (reward, greedy, length) => {
        const sparse = Array.from({ length }, (_, t) => (t === length - 1 ? reward : 0));
        const { values } = creditOf(remax, [against(greedy, turns(sparse))], TURN);
        expect(values.every((a) => a === reward - greedy)).toBe(true);
      }),
    );
  });

  it('does not see what rollout and greedy rollout both get in the end; exactly 0 where they are equal', () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 }), (r, greedy, bonus) => {
        const of = (values: number[], baseline: number) =>
          creditOf(remax, [against(baseline, turns(values))], TURN).values;
        const last = r[r.length - 1];
        expectNumbers(of([...r.slice(0, -1), last + bonus], greedy + bonus), of(r, greedy), 0);
        expect(
          of(
            r,
            r.reduce((sum, x) => sum + x, 0),
          )[0],
        ).toBe(0);
        expectNumbers(of(r.map((x) => 3 * x), 3 * greedy), of(r, greedy).map((a) => 3 * a), 0); // prettier-ignore
      }),
    );
  });

  it('is REINFORCE++ before whitening where the greedy rollout got nothing', () => {
    const tokens = { reward: [0.5, 9, -1, 2], mask: [1, 0, 1, 1] };
    const records = [against(0, [{ tokens }, { tokens }])];
    const returns = creditOf(reinforcePlusPlus, records, { whiten: false }).values;
    expectNumbers(creditOf(remax, records).values, returns, 0);
  });

  it('says where the trajectories of a group differ in their greedy reward', () => {
    const records = [against(1, turns([1])), against(2, turns([1])), against(3, turns([1]), 'h')];
    expect(estimateOf(remax, records, TURN).warnings).toEqual([
      'groups whose trajectories differ in greedyReward: 1 of 2',
    ]);
    expect(estimateOf(remax, records.slice(1), TURN).warnings).toEqual([]);
  });

  it('says what its granularity lacks', () => {
    const outcome = runEstimator(remax, trajectoryBatch([rollout('g', 1, turns([1]))]));
    expect(outcome).toMatchObject({
      kind: 'missing',
      missing: [{ path: 'trajectory.greedyReward' }, { path: 'token.reward' }],
    });
    expect(runEstimator(remax, trajectoryBatch([against(0, turns([1]))]), TURN).kind).toBe('credit');
  });
});
