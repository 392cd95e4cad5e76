import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { TOY_TREE } from '../tree-signals.fixture.js';
import { vineppo } from './vineppo.js';

const valued = (outcome: number, ...values: (number | null)[]) =>
  rollout('g', outcome, values.map((mcValue) => ({ signals: { mcValue } }))); // prettier-ignore

describe('vineppo', () => {
  it('takes what each turn changed', () => {
    expect(estimateOf(vineppo, [valued(0, 0.5, 0.75, 0.25)]).turnAdvantage).toEqual([[0.25, -0.5, -0.25]]);
  });

  it('gives the tail without estimates exactly 0', () => {
    const { turnAdvantage, columns } = estimateOf(vineppo, [valued(1, 0.5, 0.75, null, null)]);
    expect(turnAdvantage).toEqual([[0.25, 0.25, 0, 0]]);
    expect(columns['stateValue']).toEqual([[0.5, 0.75, 1, 1]]);
    expect(estimateOf(vineppo, [valued(1, null)]).turnAdvantage).toEqual([[0]]);
  });

  it('says nothing of a trajectory with a hole between two estimates', () => {
    const { values, silent } = creditOf(vineppo, [valued(1, 0.5, null, 0.25), valued(1, 0.5)]);
    expect([...values]).toEqual([NaN, NaN, NaN, 0.5]);
    expect(silent?.rows).toBe(3);
  });

  it('can take the other branches for its rollouts', () => {
    const { turnAdvantage, columns } = estimateOf(vineppo, TOY_TREE, { source: 'branches' });
    // t0: the others of the prompt 1/3, of A 0, of B 0; t1: 2/3, 1/2; t3: nobody else took F
    expectNumbers((columns['stateValue'] as number[][])[0], [1 / 3, 0, 0], 1e-12);
    expectNumbers((columns['stateValue'] as number[][])[1], [2 / 3, 1 / 2], 1e-12);
    expectNumbers((turnAdvantage as number[][])[3], [1 - 1 / 3, 0], 1e-12);
  });

  it('adds up to the outcome less the value of the first state', () => {
    const number = fc.double({ min: -2, max: 2, noNaN: true });
    fc.assert(
      fc.property(number, fc.array(number, { minLength: 1 }), fc.nat(3), (outcome, values, unknown) => {
        const tail = Array.from({ length: unknown }, () => null);
        const sum = creditOf(vineppo, [valued(outcome, ...values, ...tail)]).values.reduce((total, a) => total + a, 0);
        expect(sum).toBeCloseTo(outcome - values[0], 9);
      }),
    );
  });
});
