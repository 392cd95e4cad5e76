import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { b4, clustersOf, clusterScore } from './b4.js';

const solutions = (...rows: string[]) =>
  rows.map((row) => ({ ...rollout('g', 0), signals: { testResults: [...row].map(Number) } }));
const five = solutions('1110', '1110', '1001', '0001', '1100');

describe('b4', () => {
  it('scores clusters of equal rows, and the rules it is compared with', () => {
    const { columns } = estimateOf(b4, five);
    expectNumbers(columns['b4Score'], [-27.297, -27.297, -34.679, -36.59, -33.5], 1e-3);
    expect(columns['b4Rank']).toEqual([0, 0, 2, 3, 1]);
    expectNumbers(columns['codeTScore'], [3 * Math.SQRT2, 3 * Math.SQRT2, 2, 1, 2], 1e-12);
    expect(columns['mbrScore']).toEqual([2, 2, 1, 1, 1]);
    expect(columns['maxPassScore']).toEqual([3, 3, 2, 1, 2]);
    expect(columns['best']).toEqual([five.slice(0, 2).map(({ id }) => id)]);
  });

  it('rewards the best cluster, or each by its probability, and compares in the group', () => {
    const best = estimateOf(b4, five, { epsilon: 0 });
    expect(best.columns['trajectoryReward']).toEqual([1, 1, 0, 0, 0]);
    expectNumbers(best.trajectoryAdvantage, [1.0954, 1.0954, -0.7303, -0.7303, -0.7303], 1e-4);
    const shares = estimateOf(b4, five, { reward: 'posterior' }).columns['trajectoryReward'] as number[];
    // members share their cluster's probability, so the clusters sum to 1
    expect(shares[0] + shares[2] + shares[3] + shares[4]).toBeCloseTo(1, 12);
    expect(shares[4] / shares[0]).toBeCloseTo(Math.exp(-33.5 + 27.297), 4);
  });

  it('can take the chance from a cluster that passes nothing', () => {
    const poor = solutions('00', '00', '00', '01');
    expect(estimateOf(b4, poor).columns['trajectoryReward']).toEqual([1, 1, 1, 0]);
    expect(estimateOf(b4, poor, { zeroPasses: 'drop' }).columns['trajectoryReward']).toEqual([0, 0, 0, 1]);
    expect([...creditOf(b4, solutions('00', '00'), { zeroPasses: 'drop' }).values]).toEqual([0, 0]);
  });

  it('rewards clusters of one score alike, whichever comes first', () => {
    expect(estimateOf(b4, solutions('10', '01')).columns['trajectoryReward']).toEqual([1, 1]);
    expect(estimateOf(b4, solutions('10', '01')).columns['b4Rank']).toEqual([0, 1]);
  });

  it('says nothing of a group whose tests are not the same ones', () => {
    const { values, silent } = creditOf(b4, solutions('10', '101'));
    expect([...values]).toEqual([NaN, NaN]);
    expect(silent).toEqual({ rows: 2, why: 'the tests of its group are not the same ones' });
  });

  it('answers for one solution, one cluster and no test', () => {
    expectNumbers(creditOf(b4, solutions('1')).values, [1 / (1 + 1e-6)], 1e-12);
    expect([...creditOf(b4, solutions('1'), { singleton: 'zero' }).values]).toEqual([0]);
    expect([...creditOf(b4, solutions('10', '10')).values]).toEqual([0, 0]);
    expect([...creditOf(b4, solutions('', '')).values]).toEqual([0, 0]);
  });

  it('does not care in which order the tests stand', () => {
    const row = fc.array(fc.constantFrom(0, 1), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 5 }), (rows) => {
        const scores = (given: number[][]) => clustersOf(given).map((cluster) => clusterScore(cluster, given, { alphaXy: 10, beta0: 10 })); // prettier-ignore
        expectNumbers(scores(rows.map((each) => each.toReversed())), scores(rows), 1e-9);
      }),
    );
  });
});
