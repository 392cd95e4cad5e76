import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { rtmc } from './rtmc.js';

const walk = (reward: number, path: string, group = 'g') => {
  const steps = path.split(' ');
  const turns = steps.map((step, t) => ({
    state: step[0],
    action: step[1],
    reward: t === steps.length - 1 ? reward : 0,
  }));
  return rollout(group, reward, turns);
};

describe('rtmc', () => {
  it('judges an action against its state', () => {
    const { turnAdvantage, columns } = estimateOf(rtmc, [walk(1, 'Ax By Cz'), walk(0, 'Ax Bw'), walk(1, 'Ax By Cz')], {
      gamma: 0.9,
    });
    expectNumbers(columns.turnReturn, [0.81, 0.9, 1, 0, 0, 0.81, 0.9, 1], 1e-12);
    expectNumbers(turnAdvantage, [0, 0.3, 0, 0, -0.6, 0, 0.3, 0], 1e-12);
  });

  it('gives exactly 0 where a state saw one action, whatever it returned', () => {
    expect([...creditOf(rtmc, [walk(0.1, 'Ax'), walk(0.7, 'Ax'), walk(0.3, 'Ax')]).values]).toEqual([0, 0, 0]);
  });

  it('gives exactly 0 where all returns agree', () => {
    expect([...creditOf(rtmc, [walk(0.1, 'Ax'), walk(0.1, 'Ay'), walk(0.1, 'Az')]).values]).toEqual([0, 0, 0]);
  });

  it('sums to 0 over the visits of a state, and does not mind a shift', () => {
    const of = (shift: number) =>
      creditOf(rtmc, [walk(1 + shift, 'Ax'), walk(0.2 + shift, 'Ay'), walk(0.4 + shift, 'Ay')]).values;
    expect(of(0).reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 12);
    expectNumbers(of(5), of(0), 1e-12);
  });

  it('compares nothing across groups', () => {
    expect([...creditOf(rtmc, [walk(1, 'Ax', 'g'), walk(0, 'Ay', 'h')]).values]).toEqual([0, 0]);
  });
});
