import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { trajectoryBatch } from '#lib/dataset';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';

// turn 0: rewards 0, 0.5 and a masked token; turn 1: rewards 0, 1
const EXAMPLE = [
  rollout('g', 1, [{ tokens: { reward: [0, 0.5, 0], mask: [1, 1, 0] } }, { tokens: { reward: [0, 1], mask: [1, 1] } }]),
];

describe('reinforce-plus-plus', () => {
  it('gives the numbers of its page', () => {
    const { tokenAdvantage, columns } = estimateOf(reinforcePlusPlus, EXAMPLE, { gamma: 0.9 });
    // 1, 0.9, then over the gap 0.5 + 0.9 · 0.9 = 1.31, 0.9 · 1.31 = 1.179
    expectNumbers(columns.tokenReturn, [[[1.179, 1.31, 0], [0.9, 1]]], 1e-7); // prettier-ignore
    expectNumbers(tokenAdvantage, [[[0.447069, 1.163473, 0], [-1.078708, -0.531834]]]); // prettier-ignore
  });

  it('reads no masked token, and takes a token without a mask for generated', () => {
    const masked = [rollout('g', 0, [{ tokens: { reward: [1, 99, 2], mask: [1, 0, 1] } }])];
    expectNumbers(creditOf(reinforcePlusPlus, masked, { gamma: 0.5, whiten: false }).values, [2, 0, 2], 0);
    const unmasked = [rollout('g', 0, [{ tokens: { reward: [1, 4, 2] } }])];
    expectNumbers(creditOf(reinforcePlusPlus, unmasked, { gamma: 0.5, whiten: false }).values, [3.5, 5, 2], 0);
  });

  it('needs rewards on generated tokens only', () => {
    const observed = [rollout('g', 0, [{ tokens: { reward: [1, null, 2], mask: [1, 0, 1] } }])];
    expectNumbers(creditOf(reinforcePlusPlus, observed, { whiten: false }).values, [3, 0, 2], 0);
    const gap = [rollout('g', 0, [{ tokens: { reward: [1, null, 2] } }, { tokens: { value: [1] } }])];
    expect(runEstimator(reinforcePlusPlus, trajectoryBatch(gap))).toEqual({
      kind: 'missing',
      missing: [{ path: 'token.reward', rows: 2, of: 4 }],
    });
  });

  it('normalises over the batch, whatever the groups', () => {
    const records = [rollout('g', 0, [{ tokens: { reward: [1] } }]), rollout('h', 0, [{ tokens: { reward: [0] } }])];
    expectNumbers(creditOf(reinforcePlusPlus, records).values, [Math.SQRT1_2, -Math.SQRT1_2]);
  });

  it('gives 0 where all returns are equal', () => {
    const records = ['a', 'b', 'c'].map((group) => rollout(group, 0, [{ tokens: { reward: [0.3] } }]));
    expect([...creditOf(reinforcePlusPlus, records).values]).toEqual([0, 0, 0]);
  });

  it('leaves a single token as it is and says so', () => {
    const { tokenAdvantage, warnings } = estimateOf(reinforcePlusPlus, [
      rollout('g', 0, [{ tokens: { reward: [2] } }]),
    ]);
    expect(tokenAdvantage).toEqual([[[2]]]);
    expect(warnings).toEqual(['not whitened: one of the tokens is all there is']);
  });
});
