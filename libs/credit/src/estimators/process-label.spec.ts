import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { processLabel } from './process-label.js';

const labelled = (human: number[], judge: number[] = human) =>
  rollout('g', 0, human.map((humanLabel, t) => ({ signals: { humanLabel, judgeLabel: judge[t] } }))); // prettier-ignore
const two = [labelled([1, 1], [0, 0]), labelled([1, -1, -1], [1, 1, -1])];

describe('process-label', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(processLabel, two);
    expectNumbers(columns.trajectoryReward, [1, -1 / 3], 1e-12);
    expectNumbers(trajectoryAdvantage, [Math.SQRT1_2, -Math.SQRT1_2], 1e-4);
  });

  it('compares the labels of all turns where credit is per turn', () => {
    // mean 1/5, spread sqrt(1.2)
    const { turnAdvantage } = estimateOf(processLabel, two, { granularity: 'turn', epsilon: 0 });
    const [good, bad] = [0.8 / Math.sqrt(1.2), -1.2 / Math.sqrt(1.2)];
    expectNumbers(turnAdvantage, [good, good, good, bad, bad], 1e-12);
  });

  it('takes the labels it is told to', () => {
    expectNumbers(estimateOf(processLabel, two, { label: 'judgeLabel' }).columns.trajectoryReward, [0, 1 / 3], 1e-12);
    const human = [rollout('g', 0, [{ signals: { humanLabel: 1 } }])];
    expect(() => creditOf(processLabel, human, { label: 'judgeLabel' })).toThrow('turn.judgeLabel');
  });

  it('does not see the outcome', () => {
    const paid = two.map((record, i) => ({ ...record, outcomeReward: i }));
    expect(creditOf(processLabel, paid).values).toEqual(creditOf(processLabel, two).values);
  });

  it.each(['trajectory', 'turn'])('gives 0 where labels agree: %s', (granularity) => {
    const same = [labelled([1, 1]), labelled([1])];
    expect(creditOf(processLabel, same, { granularity }).values.every((value) => value === 0)).toBe(true);
  });

  it('gives a group of one its mean label or 0, and no turn a reward of 0', () => {
    expectNumbers(creditOf(processLabel, [labelled([1, 0])], { epsilon: 0 }).values, [0.5], 1e-12);
    expect([...creditOf(processLabel, [labelled([1, 0])], { singleton: 'zero' }).values]).toEqual([0]);
    expect(estimateOf(processLabel, [labelled([1]), labelled([])]).columns.trajectoryReward).toEqual([1, 0]);
  });
});
