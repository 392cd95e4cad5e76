import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { salt } from './salt.js';

const walk = (reward: number, path: string, finalState: string | null = null, group = 'g') => ({
  ...rollout(group, reward, path.split(' ').map((step) => ({ state: step[0], action: step[1] }))), // prettier-ignore
  signals: { finalState },
});
const given = [walk(1, 'Ax By Cz', 'ok'), walk(0, 'Ax Bw', 'fail'), walk(1, 'Ax By Cq', 'ok')];

describe('salt', () => {
  it('averages what equal steps inherited', () => {
    const { turnAdvantage, columns } = estimateOf(salt, given, { baseline: 'rloo' });
    expectNumbers(columns.baseAdvantage, [0.5, -1, 0.5], 1e-12);
    expect(columns.mergeCount).toEqual([[3, 2, 1], [3, 1], [3, 2, 1]]); // prettier-ignore
    expectNumbers(turnAdvantage, [0, 0.5, 0.5, 0, -1, 0, 0.5, 0.5], 1e-12);
  });

  it('tells steps apart by where they lead', () => {
    const ends = [walk(1, 'Ax', 'ok'), walk(0, 'Ax', 'fail')];
    expectNumbers(creditOf(salt, ends, { baseline: 'rloo' }).values, [1, -1], 1e-12);
    const unsaid = [walk(1, 'Ax'), walk(0, 'Ax')];
    expect([...creditOf(salt, unsaid, { baseline: 'rloo' }).values]).toEqual([0, 0]);
  });

  it('knows a final state that was visited', () => {
    const records = [walk(1, 'Ax By', 'ok'), walk(0, 'Ax', 'B')];
    expect(estimateOf(salt, records).columns.mergeCount).toEqual([[2, 1], [2]]);
  });

  it('counts every occurrence of a loop', () => {
    const { turnAdvantage } = estimateOf(salt, [walk(1, 'Ax Ax Ax', 'A'), walk(0, 'Ax', 'A')], { baseline: 'rloo' });
    expectNumbers(turnAdvantage, [0.5, 0.5, 0.5, 0.5], 1e-12);
  });

  it('asks for an equal history where told to', () => {
    const records = [walk(1, 'Ax Cz', 'ok'), walk(0, 'By Cz', 'ok')];
    expect([...creditOf(salt, records, { baseline: 'rloo' }).values]).toEqual([1, 0, -1, 0]);
    expect([...creditOf(salt, records, { baseline: 'rloo', historyWindow: 1 }).values]).toEqual([1, 1, -1, -1]);
  });

  it('merges nothing across groups', () => {
    const { columns } = estimateOf(salt, [walk(1, 'Ax', 'ok', 'g'), walk(0, 'Ax', 'ok', 'h')]);
    expect(columns.mergeCount).toEqual([[1], [1]]);
  });

  it('gives exactly 0 to a group that agrees, and sums to 0 where the base advantages do per turn', () => {
    expect([...creditOf(salt, [walk(0.1, 'Ax By'), walk(0.1, 'Ax Bw')]).values]).toEqual([0, 0, 0, 0]);
    const values = creditOf(salt, [walk(0.3, 'Ax By'), walk(0.9, 'Ax Bw'), walk(0.4, 'Cx By')]).values;
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9);
  });
});
