import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { gae } from './gae.js';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';

const turns = (rewards: number[], values: number[]) =>
  rewards.map((reward, t) => ({ reward, signals: { valueEstimate: values[t] } }));
const RAW = { granularity: 'turn', gamma: 0.9, lambda: 0.8, whiten: false };
const column = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 });

describe('gae', () => {
  it('gives the numbers of its page', () => {
    // last turn 1 − 0.8 = 0.2; before it 0.9 · 0.8 − 0.5 + 0.72 · 0.2 = 0.364; first 0.9 · 0.5 − 0.2 + 0.72 · 0.364
    const records = [rollout('g', 1, turns([0, 0, 1], [0.2, 0.5, 0.8])), rollout('g', 0, turns([0, 0], [0.3, 0.1]))];
    const raw = estimateOf(gae, records, RAW);
    expectNumbers(raw.turnAdvantage, [0.51208, 0.364, 0.2, -0.282, -0.1], 1e-12);
    expectNumbers(raw.columns.turnReturn, [0.71208, 0.864, 1, 0.018, 0], 1e-12);
    const white = estimateOf(gae, records, { ...RAW, whiten: true });
    expectNumbers(white.turnAdvantage, [1.141239, 0.688491, 0.187068, -1.286628, -0.73017]);
    expect(white.columns).toEqual(raw.columns);
  });

  it('is the one-step error with lambda 0, and the return less the value with lambda 1', () => {
    fc.assert(
      fc.property(column, column, (rewards, values) => {
        const of = (lambda: number) =>
          creditOf(gae, [rollout('g', 0, turns(rewards, values))], { ...RAW, lambda }).values;
        const next = [...values.slice(1), 0];
        expectNumbers(of(0), rewards.map((r, t) => r + 0.9 * next[t] - values[t]), 1e-9); // prettier-ignore
        const returns = rewards.map((_, t) => rewards.slice(t).reduceRight((g, r) => r + 0.9 * g, 0));
        expectNumbers(of(1), returns.map((g, t) => g - values[t]), 1e-9); // prettier-ignore
      }),
    );
  });

  it('is reinforce-plus-plus where nothing was expected and lambda is 1', () => {
    const tokens = { reward: [0, 0.5, 0, 1], value: [0, 0, 0, 0], mask: [1, 0, 1, 1] };
    const records = [rollout('g', 0, [{ tokens }])];
    expectNumbers(creditOf(gae, records).values, creditOf(reinforcePlusPlus, records).values, 1e-9);
  });

  it('looks across masked tokens and gives them 0', () => {
    const tokens = { reward: [0, 7, 1], value: [0.5, null, 0.25], mask: [1, 0, 1] };
    const { tokenAdvantage, columns } = estimateOf(gae, [rollout('g', 0, [{ tokens }])], {
      gamma: 0.5,
      lambda: 0,
      whiten: false,
    });
    expect(tokenAdvantage).toEqual([[[-0.375, 0, 0.75]]]);
    expect(columns.tokenReturn).toEqual([[[0.125, 0, 1]]]);
  });

  it('whitened, has mean 0 and variance 1 over the batch', () => {
    fc.assert(
      fc.property(column, column, column, column, (r, v, s, w) => {
        const records = [rollout('g', 0, turns(r, v)), rollout('h', 0, turns(s, w))];
        const { values } = creditOf(gae, records, { granularity: 'turn', whitenEpsilon: 0 });
        expect(values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        const squares = values.reduce((sum, a) => sum + a * a, 0);
        if (squares > 0) expect(squares / 7).toBeCloseTo(1, 9);
      }),
    );
  });

  it('says what its granularity lacks', () => {
    const records = trajectoryBatch([rollout('g', 0, turns([0, 1], [0.5, 0.5]))]);
    expect(runEstimator(gae, records)).toEqual({
      kind: 'missing',
      missing: [
        { path: 'token.reward', rows: 0, of: 0 },
        { path: 'token.value', rows: 0, of: 0 },
      ],
    });
    expect(runEstimator(gae, records, { granularity: 'turn' }).kind).toBe('credit');
  });

  it('leaves a single turn as it is and says so', () => {
    const { turnAdvantage, warnings } = estimateOf(gae, [rollout('g', 0, turns([1], [0.25]))], { granularity: 'turn' });
    expect(turnAdvantage).toEqual([[0.75]]);
    expect(warnings).toEqual(['not whitened: one of the turns is all there is']);
  });
});
