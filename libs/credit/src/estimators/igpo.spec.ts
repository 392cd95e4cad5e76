import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { igpo } from './igpo.js';

/** A rollout of turns before each of which the right answer had this mean log-probability. */
const believing = (group: string, outcome: number, ...belief: number[]) =>
  rollout(group, outcome, belief.map((groundTruthLogprob) => ({ signals: { groundTruthLogprob } }))); // prettier-ignore

/** The example of the methods. */
const three = () => [believing('g', 1, -3, -2, -0.5), believing('g', 0, -3, -3.2, -2.8), believing('g', 0.5, -3, -1)];
const belief = fc.array(fc.integer({ min: -40, max: 0 }), { minLength: 1, maxLength: 4 });
const group = fc.array(fc.tuple(fc.integer({ min: -3, max: 3 }), belief), { minLength: 1, maxLength: 5 });
const rollouts = (drawn: [number, number[]][]) => drawn.map(([outcome, values]) => believing('g', outcome, ...values));

describe('igpo', () => {
  it('pays a turn with what it added to the belief, the last one with the outcome', () => {
    expectNumbers(estimateOf(igpo, three()).columns.turnReward, [1, 1.5, 1, -0.2, 0.4, 0, 2, 0.5], 1e-12);
    const inProbability = estimateOf(igpo, three(), { infoGainType: 'probDiff' }).columns.turnReward as number[][];
    expectNumbers(inProbability[2], [Math.exp(-1) - Math.exp(-3), 0.5], 1e-12);
  });

  it('gives the numbers of its page', () => {
    const separate = [2.020922, 1.943873, 1.224742, -3.382134, -1.918189, -1.224742, 1.361212, 0];
    expectNumbers(creditOf(igpo, three()).values, separate);
    const joint = [1.551277, 2.44046, 2.128677, -2.424194, -1.657987, -0.904631, 0.611063, 0.612023];
    expectNumbers(creditOf(igpo, three(), { infoGainType: 'probDiff', pooling: 'joint', gamma: 0.9 }).values, joint);
  });

  it('without the division works by hand', () => {
    // last turns 1, 0: mean 0.5; others 1 and −2: mean −0.5
    const records = [believing('g', 1, -3, -2), believing('g', 0, -1, -3)];
    expectNumbers(creditOf(igpo, records, { normalizeByStd: false }).values, [1.5 + 0.5, 0.5, -1.5 - 0.5, -0.5], 1e-12);
    expectNumbers(creditOf(igpo, records, { normalizeByStd: false, gamma: 0 }).values, [1.5, 0.5, -1.5, -0.5], 1e-12);
  });

  it('weighs before it normalises: apart the weights cancel, together they do not', () => {
    const weights = { outcomeWeight: 3, infoGainWeight: 0.5 };
    expectNumbers(creditOf(igpo, three(), weights).values, creditOf(igpo, three()).values, 1e-5);
    const joint = creditOf(igpo, three(), { pooling: 'joint' }).values;
    const weighted = creditOf(igpo, three(), { pooling: 'joint', ...weights }).values;
    expect(Math.abs(weighted[0] - joint[0])).toBeGreaterThan(0.05);
  });

  it('gives exactly 0 where outcomes agree and no belief moves', () => {
    const flat = [believing('g', 0.3, -1, -1, -1), believing('g', 0.1 + 0.2, -2, -2)];
    expect([...creditOf(igpo, flat).values].map(Math.abs)).toEqual([0, 0, 0, 0, 0]);
  });

  it('gives 0 to a turn alone in its pool', () => {
    expect([...creditOf(igpo, [believing('g', 5, -1)]).values]).toEqual([0]);
    expect([...creditOf(igpo, [believing('g', 5, -2, -1)]).values]).toEqual([0, 0]);
  });

  it('sees no shift of the outcomes and none of the beliefs of a rollout', () => {
    fc.assert(
      fc.property(group, fc.integer({ min: -5, max: 5 }), (drawn, shift) => {
        const moved = drawn.map(([outcome, values]) => believing('g', outcome + shift, ...values.map((v) => v - 7)));
        expectNumbers(creditOf(igpo, moved).values, creditOf(igpo, rollouts(drawn)).values, 1e-9);
      }),
    );
  });

  it('sums to zero over each pool before it adds up backwards', () => {
    fc.assert(
      fc.property(group, fc.boolean(), (drawn, isJoint) => {
        const params = { gamma: 0, pooling: isJoint ? 'joint' : 'separate' };
        const scores = creditOf(igpo, rollouts(drawn), params).values;
        expect(scores.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
      }),
    );
  });

  it('adds up what is discounted by gamma', () => {
    fc.assert(
      fc.property(belief, (values) => {
        const records = [believing('g', 1, ...values), believing('g', 0, -1, -2, -4)];
        const scores = creditOf(igpo, records, { gamma: 0 }).values;
        const credit = creditOf(igpo, records, { gamma: 0.5 }).values;
        const n = values.length;
        for (let t = 0; t + 1 < n; t++) expect(credit[t]).toBeCloseTo(scores[t] + 0.5 * credit[t + 1], 9);
        expect(credit[n - 1]).toBe(scores[n - 1]);
      }),
    );
  });
});
