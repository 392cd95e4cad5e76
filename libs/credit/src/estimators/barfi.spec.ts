import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { barfi, blendWeights } from './barfi.js';

const act = (action: string, reward: number, good: number, bad: number, state = 's', group = 'g') =>
  rollout(group, 0, [{ state, action, reward, signals: { good, bad } }]);
const given = [act('a', 1, 1, 0), act('b', 0, 0, 1)];
const both = { auxiliarySignals: ['good', 'bad'] };

describe('barfi', () => {
  it('gives weight to what teaches the same as the return, and none to what teaches the opposite', () => {
    const { columns, turnAdvantage } = estimateOf(barfi, given, { ...both, steps: 1 });
    expectNumbers(columns.signalAlignment, [0.125, 0.125, -0.125], 1e-12);
    // 0.1 · 0.125 / (0.125 · √3) = 0.0577350
    expectNumbers(columns.signalWeight, [1.057735, 0.057735, 0], 1e-6);
    expectNumbers(turnAdvantage, [0.557735, -0.557735], 1e-6);
  });

  it('ends at the bounds with the default steps', () => {
    expectNumbers(estimateOf(barfi, given, both).columns.signalWeight, [2, 2, 0]);
  });

  it('is the return less the mean of its state where nothing is blended and nothing moves', () => {
    const records = [rollout('g', 0, [{ state: 'A', action: 'x', reward: 0 }, { state: 'B', action: 'y', reward: 1 }]), rollout('g', 0, [{ state: 'A', action: 'x', reward: 0 }, { state: 'B', action: 'z', reward: 0 }])]; // prettier-ignore
    const values = creditOf(barfi, records, { steps: 0, gammaInner: 0.5 }).values;
    expectNumbers(values, [0.25, 0.5, -0.25, -0.5], 1e-12);
  });

  it('leaves the weights alone where no action differs from another', () => {
    const same = [act('a', 1, 1, 0), act('a', 0, 0, 1)];
    expectNumbers(estimateOf(barfi, same, both).columns.signalWeight, [1, 0, 0]);
  });

  it('knows states by group, and gives 0 to a state seen once', () => {
    expect([...creditOf(barfi, [act('a', 1, 0, 0), act('b', 0, 0, 0, 's', 'h')]).values]).toEqual([0, 0]);
  });

  it('takes a rounding for no agreement', () => {
    const params = {
      auxiliarySignals: [],
      learningRate: 0.1,
      steps: 100,
      phiMin: 0,
      phiMax: 2,
      gammaInner: 1,
      gamma: 1,
    };
    const { alignment } = blendWeights([Float64Array.of(1, 1), Float64Array.of(1, -1 + 1e-15)], params);
    expect([...alignment]).toEqual([2, 0]);
  });

  it('names a signal that is missing', () => {
    expect(() => creditOf(barfi, given, { auxiliarySignals: ['good', 'ugly'] })).toThrow('turn.ugly');
  });
});
