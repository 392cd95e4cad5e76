import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { grpo } from './grpo.js';
import { papo } from './papo.js';

const judged = (outcome: number, ...scores: number[]) => ({
  ...rollout('g', outcome, scores.map((processReward) => ({ signals: { processReward } }))), // prettier-ignore
  success: outcome > 0,
});
const four = [judged(1, 0.9), judged(1, 0.3), judged(0, 0.8), judged(0, 0.1)];

describe('papo', () => {
  it('gives the numbers of its page', () => {
    const { trajectoryAdvantage, columns } = estimateOf(papo, four);
    expectNumbers(trajectoryAdvantage, [1.5731, 0.1589, -0.866, -0.866], 1e-4);
    expectNumbers(columns.processAdvantage, [Math.SQRT1_2, -Math.SQRT1_2, 0, 0], 1e-4);
  });

  it('makes one score of many turns in the way it is told to', () => {
    const given = [judged(1, 0.9, 0.1), judged(1, 0.5)];
    expectNumbers(estimateOf(papo, given).columns.processScore, [0.5, 0.5], 1e-12);
    expectNumbers(estimateOf(papo, given, { aggregate: 'min' }).columns.processScore, [0.1, 0.5], 1e-12);
  });

  it('is GRPO where right trajectories agree in their process', () => {
    const given = [judged(1, 0.4), judged(1, 0.4), judged(0, 0.9)];
    expect(creditOf(papo, given).values).toEqual(creditOf(grpo, given).values);
  });

  it('gives a lonely right trajectory nothing for its process, unless it is told to', () => {
    const given = [judged(1, 0.4), judged(0, 0.9)];
    expect(estimateOf(papo, given).columns.processAdvantage).toEqual([0, 0]);
    const raw = estimateOf(papo, given, { singleton: 'raw', epsilon: 0 });
    expectNumbers(raw.columns.processAdvantage, [0.4, 0], 1e-12);
  });

  it('gives 0 where all agree, and to a group of one', () => {
    expect([...creditOf(papo, [judged(1, 0.3), judged(1, 0.3)]).values]).toEqual([0, 0]);
    expect([...creditOf(papo, [judged(1, 0.3)]).values]).toEqual([0]);
  });
});
