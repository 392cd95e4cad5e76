import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { rudder } from './rudder.js';

const predicted = (reward: number, ...predictions: number[]) =>
  rollout('g', reward, predictions.map((returnPrediction) => ({ signals: { returnPrediction } }))); // prettier-ignore

describe('rudder', () => {
  it('pays what a turn changed in the prediction', () => {
    const { columns } = estimateOf(rudder, [predicted(1, 0.1, 0.6, 0.7)]);
    expectNumbers(columns.differenceReward, [0.1, 0.5, 0.1], 1e-12);
    expectNumbers(columns.turnReward, [0.2, 0.6, 0.2], 1e-12);
    expectNumbers(columns.turnReturn, [1, 0.8, 0.2], 1e-12);
  });

  it('starts anew with every trajectory', () => {
    const { turnAdvantage } = estimateOf(rudder, [predicted(1, 1), predicted(0), predicted(0, 0.5, 0)]);
    expect(turnAdvantage).toEqual([[1], [], [0.5, -0.5]]);
  });

  it('adds up to the outcome with correction, to the last prediction without', () => {
    const number = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(number, fc.array(number, { minLength: 1, maxLength: 6 }), (reward, predictions) => {
        const sum = (params: object) =>
          creditOf(rudder, [predicted(reward, ...predictions)], params).values.reduce((total, q) => total + q, 0);
        expect(sum({})).toBeCloseTo(reward, 9);
        expect(sum({ errorCorrection: 'none' })).toBeCloseTo(predictions.at(-1)!, 9);
      }),
    );
  });

  it('divides the outcome evenly where nothing is predicted', () => {
    expect([...creditOf(rudder, [predicted(1, 0, 0, 0, 0)]).values]).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});
