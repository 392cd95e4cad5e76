import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { graphgpo } from './graphgpo.js';

const walk = (success: boolean | number, path: string, finalState: string, group = 'g') => ({
  ...rollout(
    group,
    0,
    Array.from(path, (state) => ({ state })),
  ),
  success: Boolean(success),
  signals: { finalState },
});
const given = [walk(1, 'ABC', 'ok'), walk(0, 'AB', 'fail'), walk(1, 'ABC', 'ok')];
const centred = { normalizeByStd: false };

describe('graphgpo', () => {
  it('rewards how near to success the next state is', () => {
    const { turnAdvantage, columns } = estimateOf(graphgpo, given, centred);
    expectNumbers(columns.turnReward, [0.25, 0.5, 1, 0.25, 0, 0.25, 0.5, 1]);
    expectNumbers(columns.turnsToSuccess, [2, 1, 0, 2, NaN, 2, 1, 0]);
    expectNumbers(turnAdvantage, [0, 1 / 6, 0, 0, -1 / 3, 0, 1 / 6, 0], 1e-12);
  });

  it('takes the shortest way that any rollout of the group took', () => {
    // a wandered S-X-Y-Z; b went from X to Z at once: after S it is X, Z, end
    const { columns } = estimateOf(graphgpo, [walk(1, 'SXYZ', 'ok'), walk(1, 'XZ', 'ok')]);
    expectNumbers((columns.turnsToSuccess as number[][])[0], [2, 2, 1, 0]);
    expectNumbers((columns.turnsToSuccess as number[][])[1], [1, 0]);
  });

  it('gives 0 to all where nobody succeeded, and lets groups be', () => {
    expect([...creditOf(graphgpo, [walk(0, 'AB', 'x'), walk(0, 'AC', 'y')]).values]).toEqual([0, 0, 0, 0]);
    const alone = estimateOf(graphgpo, given).turnAdvantage as number[][];
    const both = estimateOf(graphgpo, [...given, walk(0, 'AB', 'ok', 'h')]).turnAdvantage as number[][];
    expect(both.slice(0, 3)).toEqual(alone);
  });

  it('sums to 0 over the turns that left one state', () => {
    const values = creditOf(graphgpo, given).values;
    expectNumbers([values[1] + values[4] + values[6]], [0], 1e-9);
  });

  it('does not change with the size of the reward, but for epsilon', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 100, noNaN: true }), (successReward) => {
        expectNumbers(
          creditOf(graphgpo, given, { successReward, epsilon: 0 }).values,
          creditOf(graphgpo, given, { epsilon: 0 }).values,
          1e-9,
        );
      }),
    );
  });

  it('lets a turn that alone left its state keep its reward where that is asked for', () => {
    expectNumbers(creditOf(graphgpo, [walk(1, 'A', 'ok')], { singleton: 'raw', epsilon: 0 }).values, [1]);
    expect([...creditOf(graphgpo, [walk(1, 'A', 'ok')]).values]).toEqual([0]);
  });
});
