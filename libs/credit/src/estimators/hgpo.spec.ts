import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout, visits } from '../estimator.fixture.js';
import { gigpo } from './gigpo.js';
import { hgpo } from './hgpo.js';

const EXAMPLE = [
  rollout('g', 1, visits(['A', 0], ['X', 1])),
  rollout('g', 0, visits(['A', 0], ['X', 0])),
  rollout('g', 0.5, visits(['B', 0], ['X', 0.5])),
  rollout('g', 0, visits(['B', 0], ['X', 0])),
];
const PARAMS = { historyWindow: 1, gamma: 0.5, normalizeByStd: false };

describe('hgpo', () => {
  it('gives the numbers of its page', () => {
    const { turnAdvantage, columns } = estimateOf(hgpo, EXAMPLE, PARAMS);
    expect(columns.contextGroupSize).toEqual(EXAMPLE.map(() => [[2], [4, 2]]));
    // turn 1 of the first: at X 1 − 0.375, after A 1 − 0.5: (2 · 0.625 + 3 · 0.5) / 5 = 0.55
    expectNumbers(turnAdvantage, [0.25, 0.55, -0.25, -0.45, 0.125, 0.2, -0.125, -0.3]);
  });

  it('adds epsilon to the sum of weights', () => {
    // as above, (2 · 0.625 + 3 · 0.5) / (5 + 1)
    expectNumbers(creditOf(hgpo, EXAMPLE, { ...PARAMS, epsilon: 1 }).values[1], 2.75 / 6, 1e-12);
  });

  it('divides by the population spread', () => {
    const { values } = creditOf(hgpo, EXAMPLE, { ...PARAMS, normalizeByStd: true });
    expectNumbers(values, [0.999996, 1.20302, -0.999996, -0.961811, 0.999992, 0.720602, -0.999992, -0.96181]);
  });

  it('lets the episode advantage join', () => {
    const { values } = creditOf(hgpo, EXAMPLE, { ...PARAMS, baseGroup: true });
    expectNumbers(values, [0.375, 0.5625, -0.291667, -0.4375, 0.125, 0.1875, -0.208333, -0.3125]);
  });

  it('needs the outcome only where the episode advantage joins', () => {
    const records = EXAMPLE.map(({ id, group, trainingStep, turns }) => ({ id, group, trainingStep, turns }));
    expectNumbers(creditOf(hgpo, records, PARAMS).values, creditOf(hgpo, EXAMPLE, PARAMS).values, 0);
    expect(() => creditOf(hgpo, records, { baseGroup: true })).toThrow('missing trajectory.outcomeReward');
  });

  it('is a weighted mean: with one depth the step part of gigpo, less what epsilon takes', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const params = { historyWindow: 0, normalizeByStd: false, epsilon: 0 };
        const step = creditOf(gigpo, records, { gamma: 0.95 }).explain!.stepAdvantage.values;
        expectNumbers(creditOf(hgpo, records, params).values, step, 1e-9);
      }),
    );
  });

  it('leaves items of zero out of the weights', () => {
    // after A the returns agree, at X they do not: the whole weight is that of X, 1 − 0.5 and 0 − 0.5
    const records = [
      rollout('g', 1, visits(['A', 0], ['X', 1])),
      rollout('g', 1, visits(['A', 0], ['X', 1])),
      rollout('g', 0, visits(['B', 0], ['X', 0])),
      rollout('g', 0, visits(['B', 0], ['X', 0])),
    ];
    const { values } = creditOf(hgpo, records, { ...PARAMS, epsilon: 0 });
    expectNumbers([values[1], values[5]], [0.5, -0.5], 1e-12);
    expectNumbers([values[0], values[4]], [0, 0], 0);
  });

  it('does not look across the beginning of a trajectory', () => {
    const records = [rollout('g', 0, visits(['A', 0], ['B', 0])), rollout('g', 0, visits(['A', 0], ['B', 1]))];
    const { contextGroupSize } = estimateOf(hgpo, records).columns;
    expect(contextGroupSize).toEqual([[[2], [2, 2]], [[2], [2, 2]]]); // prettier-ignore
  });

  it('gives 0 to turns that share their state with nobody', () => {
    const records = [rollout('g', 1, visits(['A', 1])), rollout('g', 0, visits(['B', 0]))];
    expect([...creditOf(hgpo, records).values]).toEqual([0, 0]);
  });

  it('takes the penalty from its own turn only', () => {
    const turn = { state: 'A', reward: 0, signals: { isActionValid: false } };
    const records = [rollout('g', 0, [{ state: 'B', reward: 0 }, turn]), rollout('g', 0, visits(['B', 0], ['A', 0]))];
    const { values } = creditOf(hgpo, records, { ...PARAMS, historyWindow: 0, epsilon: 0, invalidActionPenalty: 0.2 });
    expectNumbers(values, [0, -0.1, 0, 0.1], 1e-12);
  });
});
