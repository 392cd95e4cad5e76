import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { hiAgent } from './hi-agent.js';

const tried = (formatOk: boolean, executionReward: number, subgoal: string | null = null, state = 's', group = 'g') =>
  rollout(group, 0, [{ state, signals: { formatOk, executionReward, subgoal, judgeScore: 0.5 } }]);
const given = [tried(true, 1), tried(true, 0), tried(false, 0), tried(true, 0.5)];

describe('hi-agent', () => {
  it('judges a subgoal against the others of its state', () => {
    const { turnAdvantage, columns } = estimateOf(hiAgent, given);
    expectNumbers(columns.turnReward, [1, 0.1, 0, 0.55]);
    // mean 0.4125, spread 0.458939
    expectNumbers(turnAdvantage, [1.280125, -0.680908, -0.898802, 0.299601], 1e-4);
  });

  it('judges an execution against the others of its state and subgoal', () => {
    const records = [
      tried(true, 1, 'a'),
      tried(true, 0, 'a'),
      tried(true, 1, 'b'),
      tried(true, 1, null),
      tried(true, 0, null),
    ];
    const { turnAdvantage } = estimateOf(hiAgent, records, { part: 'low', epsilon: 0 });
    expectNumbers(turnAdvantage, [Math.SQRT1_2, -Math.SQRT1_2, 0, Math.SQRT1_2, -Math.SQRT1_2], 1e-9);
  });

  it('adds the judge where it is asked for, and a constant of it changes nothing', () => {
    const { columns } = estimateOf(hiAgent, given, { judged: true, judgeWeight: 1 });
    expectNumbers(columns.turnReward, [1.5, 0.6, 0.5, 1.05]);
    expectNumbers(creditOf(hiAgent, given, { judged: true }).values, creditOf(hiAgent, given).values, 1e-9);
  });

  it('gives 0 to a turn that is alone in its state, and where all agree', () => {
    expect([...creditOf(hiAgent, [tried(true, 1, null, 'x'), tried(true, 0, null, 'y')]).values]).toEqual([0, 0]);
    expect([...creditOf(hiAgent, [tried(true, 0.3), tried(true, 0.3)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(hiAgent, [tried(true, 1)], { singleton: 'raw', epsilon: 0 }).values, [1]);
  });

  it('lets groups be, and sums to 0 in a state', () => {
    const others = [tried(true, 0, null, 's', 'h'), tried(true, 1, null, 's', 'h')];
    const values = creditOf(hiAgent, [...given, ...others]).values;
    expect([...values.subarray(0, 4)]).toEqual([...creditOf(hiAgent, given).values]);
    expectNumbers([values.subarray(0, 4).reduce((a, b) => a + b)], [0], 1e-9);
  });
});
