import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { uniformRedistribution } from './uniform-redistribution.js';

const of = (reward: number, turns: number) =>
  rollout(
    'g',
    reward,
    Array.from({ length: turns }, () => ({})),
  );
const given = [of(1, 4), of(0.4, 1), of(0, 2), of(5, 0)];

describe('uniform-redistribution', () => {
  it('divides', () => {
    const { columns } = estimateOf(uniformRedistribution, given);
    expect(columns.turnReward).toEqual([[0.25, 0.25, 0.25, 0.25], [0.4], [0, 0], []]);
    expect(columns.turnReturn).toEqual([[1, 0.75, 0.5, 0.25], [0.4], [0, 0], []]);
  });

  it('copies', () => {
    expect([...creditOf(uniformRedistribution, given, { variant: 'copy' }).values]).toEqual([1, 1, 1, 1, 0.4, 0, 0]);
  });

  it('places between the extremes of the batch', () => {
    const values = creditOf(uniformRedistribution, given.slice(0, 3), { variant: 'ircr' }).values;
    expect([...values]).toEqual([1, 1, 1, 1, 0.4, 0, 0]);
    const shifted = [of(2, 4), of(1.4, 1), of(1, 2)];
    expectNumbers(creditOf(uniformRedistribution, shifted, { variant: 'ircr' }).values, values, 1e-12);
  });

  it('has no place where all agree', () => {
    const values = creditOf(uniformRedistribution, [of(0.1, 2), of(0.1, 1)], { variant: 'ircr' }).values;
    expect([...values]).toEqual([0, 0, 0]);
  });

  it('divided, keeps the outcome', () => {
    const outcome = fc.double({ min: -9, max: 9, noNaN: true });
    fc.assert(
      fc.property(outcome, fc.integer({ min: 1, max: 9 }), (reward, turns) => {
        const sum = creditOf(uniformRedistribution, [of(reward, turns)]).values.reduce((total, q) => total + q, 0);
        expect(sum).toBeCloseTo(reward, 9);
      }),
    );
  });
});
